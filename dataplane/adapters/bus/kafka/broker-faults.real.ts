import { testBrokerFaults } from './both-clients/testing/fault-suite.ts'
import { openKafkaBus } from './kafka-bus.ts'

export const needs = ['kafka']

testBrokerFaults({ name: '@platformatic/kafka', openBus: openKafkaBus, isCooperative: true })
