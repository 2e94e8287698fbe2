import { testClusterFaults } from './both-clients/testing/fault-suite.ts'
import { openPlatformaticBus } from './kafka-bus.ts'

export const needs = ['kafka-3']

testClusterFaults({ name: '@platformatic/kafka', openBus: openPlatformaticBus, isCooperative: true })
