import { testClientDefects } from './both-clients/testing/defect-suite.ts'
import { openPlatformaticBus } from './kafka-bus.ts'

export const needs = ['kafka']

testClientDefects('@platformatic/kafka', openPlatformaticBus)
