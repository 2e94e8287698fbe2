import { testAccess } from '../kafka/testing/access-suite.ts'
import { openKafkaJsBus } from './kafkajs-bus.ts'

export const needs = ['kafka']

testAccess('kafkajs', openKafkaJsBus)
