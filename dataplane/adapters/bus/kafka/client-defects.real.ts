import { testClientDefects } from './both-clients/testing/defect-suite.ts'
import { openKafkaBus } from './kafka-bus.ts'

export const needs = ['kafka']

testClientDefects('@platformatic/kafka', openKafkaBus)
