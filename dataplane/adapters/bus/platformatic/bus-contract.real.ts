import { testBusContract } from '../contract.ts'
import { makeKafkaHarness } from '../kafka/testing/kafka-harness.ts'
import { openPlatformaticBus } from './platformatic-bus.ts'

export const needs = ['kafka']

testBusContract('@platformatic/kafka, one broker', () => makeKafkaHarness(openPlatformaticBus, 'kafka'))
