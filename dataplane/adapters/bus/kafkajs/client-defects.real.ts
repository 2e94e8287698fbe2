import { testClientDefects } from '../kafka/testing/defect-suite.ts'
import { openKafkaJsBus } from './kafkajs-bus.ts'

export const needs = ['kafka']

testClientDefects('kafkajs', openKafkaJsBus)
