import { testBusContract } from '../contract.ts'
import { makeKafkaHarness } from '../kafka/testing/kafka-harness.ts'
import { openKafkaJsBus } from './kafkajs-bus.ts'

export const needs = ['kafka-3']

testBusContract('kafkajs, three brokers', () => makeKafkaHarness(openKafkaJsBus, 'kafka-3'))
