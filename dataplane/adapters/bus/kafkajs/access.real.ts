import { testAccess } from '../kafka/both-clients/testing/access-suite.ts'
import { openKafkaJsBus } from './kafkajs-bus.ts'

export const needs = ['kafka']

testAccess('kafkajs', openKafkaJsBus)
