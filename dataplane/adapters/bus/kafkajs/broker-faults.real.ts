import { testBrokerFaults } from '../kafka/both-clients/testing/fault-suite.ts'
import { openKafkaJsBus } from './kafkajs-bus.ts'

export const needs = ['kafka']

testBrokerFaults({ name: 'kafkajs', openBus: openKafkaJsBus, isCooperative: false })
