import { testBusContract } from '../testing/bus-contract-suite.ts'
import { testClusterFaults } from './both-clients/testing/fault-suite.ts'
import { makeKafkaHarness } from './both-clients/testing/kafka-harness.ts'
import { openKafkaBus } from './kafka-bus.ts'

export const needs = ['kafka-3']

testBusContract('@platformatic/kafka, three brokers', () => makeKafkaHarness(openKafkaBus, 'kafka-3'))
testClusterFaults({ name: '@platformatic/kafka', openBus: openKafkaBus, isCooperative: true })
