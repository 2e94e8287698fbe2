import { testClusterFaults } from '../kafka/both-clients/testing/fault-suite.ts'
import { makeKafkaHarness } from '../kafka/both-clients/testing/kafka-harness.ts'
import { testBusContract } from '../testing/bus-contract-suite.ts'
import { openKafkaJsBus } from './kafkajs-bus.ts'

export const needs = ['kafka-3']

testBusContract('kafkajs, three brokers', () => makeKafkaHarness(openKafkaJsBus, 'kafka-3'))
testClusterFaults({ name: 'kafkajs', openBus: openKafkaJsBus, isCooperative: false })
