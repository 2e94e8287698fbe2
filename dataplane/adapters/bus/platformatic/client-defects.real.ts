import { testClientDefects } from '../kafka/testing/defect-suite.ts'
import { openPlatformaticBus } from './platformatic-bus.ts'

export const needs = ['kafka']

testClientDefects('@platformatic/kafka', openPlatformaticBus)
