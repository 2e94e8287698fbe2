import { testBusContract } from '../contract.ts'
import { makeKafkaHarness } from '../kafka/testing/kafka-harness.ts'
import { openKafkaJsBus } from './kafkajs-bus.ts'

export const needs = ['kafka']

testBusContract('kafkajs, one broker', () => makeKafkaHarness(openKafkaJsBus, 'kafka'))
