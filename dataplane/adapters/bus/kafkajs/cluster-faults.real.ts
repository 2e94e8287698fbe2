import { testClusterFaults } from '../kafka/both-clients/testing/fault-suite.ts'
import { openKafkaJsBus } from './kafkajs-bus.ts'

export const needs = ['kafka-3']

testClusterFaults({ name: 'kafkajs', openBus: openKafkaJsBus, isCooperative: false })
