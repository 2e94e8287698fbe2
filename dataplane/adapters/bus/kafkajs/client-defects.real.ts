import { testClientDefects } from '../kafka/both-clients/testing/defect-suite.ts'
import { openKafkaJsBus } from './kafkajs-bus.ts'

export const needs = ['kafka']

testClientDefects('kafkajs', openKafkaJsBus)
