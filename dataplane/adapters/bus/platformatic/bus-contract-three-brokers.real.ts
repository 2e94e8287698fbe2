import { testBusContract } from '../contract.ts'
import { makeKafkaHarness } from '../kafka/testing/kafka-harness.ts'
import { openPlatformaticBus } from './platformatic-bus.ts'

export const needs = ['kafka-3']

testBusContract('@platformatic/kafka, three brokers', () => makeKafkaHarness(openPlatformaticBus, 'kafka-3'))
