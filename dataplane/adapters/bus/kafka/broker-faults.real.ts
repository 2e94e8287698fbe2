import { testBrokerFaults } from './both-clients/testing/fault-suite.ts'
import { openPlatformaticBus } from './kafka-bus.ts'

export const needs = ['kafka']

testBrokerFaults({ name: '@platformatic/kafka', openBus: openPlatformaticBus, isCooperative: true })
