import { testAccess } from './both-clients/testing/access-suite.ts'
import { openKafkaBus } from './kafka-bus.ts'

export const needs = ['kafka']

testAccess('@platformatic/kafka', openKafkaBus)
