import { testBusContract } from '../testing/bus-contract-suite.ts'
import { makeKafkaHarness } from './both-clients/testing/kafka-harness.ts'
import { openKafkaBus } from './kafka-bus.ts'

export const needs = ['kafka']

testBusContract('@platformatic/kafka, one broker', () => makeKafkaHarness(openKafkaBus, 'kafka'))
