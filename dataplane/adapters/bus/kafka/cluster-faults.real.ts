import { testClusterFaults } from './both-clients/testing/fault-suite.ts'
import { openKafkaBus } from './kafka-bus.ts'

export const needs = ['kafka-3']

testClusterFaults({ name: '@platformatic/kafka', openBus: openKafkaBus, isCooperative: true })
