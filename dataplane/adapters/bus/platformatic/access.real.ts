import { testAccess } from '../kafka/testing/access-suite.ts'
import { openPlatformaticBus } from './platformatic-bus.ts'

export const needs = ['kafka']

testAccess('@platformatic/kafka', openPlatformaticBus)
