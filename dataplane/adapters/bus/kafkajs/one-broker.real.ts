import { testAccess } from '../kafka/both-clients/testing/access-suite.ts'
import { testTopicChanges } from '../kafka/both-clients/testing/change-suite.ts'
import { testClientDefects } from '../kafka/both-clients/testing/defect-suite.ts'
import { testBrokerFaults } from '../kafka/both-clients/testing/fault-suite.ts'
import { makeKafkaHarness } from '../kafka/both-clients/testing/kafka-harness.ts'
import { testBusContract } from '../testing/bus-contract-suite.ts'
import { openKafkaJsBus } from './kafkajs-bus.ts'

export const needs = ['kafka']

testBusContract('kafkajs, one broker', () => makeKafkaHarness(openKafkaJsBus, 'kafka'))
testAccess('kafkajs', openKafkaJsBus)
testClientDefects('kafkajs', openKafkaJsBus)
testBrokerFaults({ name: 'kafkajs', openBus: openKafkaJsBus, isCooperative: false })
testTopicChanges({ name: 'kafkajs', openBus: openKafkaJsBus, knowsTopics: false })
