import { expect } from 'chai'
import { describe, it } from 'mocha'
import { DEFAULT_ESCALATION, escalationTimes } from './escalation-config.ts'

describe('Automatic escalation', () => {
  it('is off by default', () => {
    expect(escalationTimes(DEFAULT_ESCALATION)).to.deep.equal({ critical: null, high: null, medium: null, low: null })
  })
  it('comes after the duration of the severity', () => {
    expect(escalationTimes({ ...DEFAULT_ESCALATION, critical: '15m', low: '1h30m' })).to.deep.equal({
      ...{ critical: 900_000, high: null, medium: null, low: 5_400_000 },
    })
  })
})
