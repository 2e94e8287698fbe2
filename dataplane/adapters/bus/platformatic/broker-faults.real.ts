import { testBrokerFaults } from '../kafka/testing/fault-suite.ts'
import { openPlatformaticBus } from './platformatic-bus.ts'

export const needs = ['kafka']

testBrokerFaults({ name: '@platformatic/kafka', openBus: openPlatformaticBus, isCooperative: true })
