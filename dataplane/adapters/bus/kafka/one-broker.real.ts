import { testBusContract } from '../testing/bus-contract-suite.ts'
import { testAccess } from './both-clients/testing/access-suite.ts'
import { testTopicChanges } from './both-clients/testing/change-suite.ts'
import { testClientDefects } from './both-clients/testing/defect-suite.ts'
import { testBrokerFaults } from './both-clients/testing/fault-suite.ts'
import { makeKafkaHarness } from './both-clients/testing/kafka-harness.ts'
import { openKafkaBus } from './kafka-bus.ts'

export const needs = ['kafka']

testBusContract('@platformatic/kafka, one broker', () => makeKafkaHarness(openKafkaBus, 'kafka'))
testAccess('@platformatic/kafka', openKafkaBus)
testClientDefects('@platformatic/kafka', openKafkaBus)
testBrokerFaults({ name: '@platformatic/kafka', openBus: openKafkaBus, isCooperative: true })
testTopicChanges({ name: '@platformatic/kafka', openBus: openKafkaBus, knowsTopics: true })
