import { testAccess } from './both-clients/testing/access-suite.ts'
import { openPlatformaticBus } from './kafka-bus.ts'

export const needs = ['kafka']

testAccess('@platformatic/kafka', openPlatformaticBus)
