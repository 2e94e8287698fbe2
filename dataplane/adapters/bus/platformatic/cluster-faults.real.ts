import { testClusterFaults } from '../kafka/testing/fault-suite.ts'
import { openPlatformaticBus } from './platformatic-bus.ts'

export const needs = ['kafka-3']

testClusterFaults({ name: '@platformatic/kafka', openBus: openPlatformaticBus, isCooperative: true })
