import { expect } from 'chai'
import { describe, it } from 'mocha'
import { DEFAULT_ANOMALY_CONFIG, parseLookback } from './anomaly-config.ts'

describe('ticketing configuration: anomaly', () => {
  it('minimumScore defaults to 0.85, lookbackWindow to 15m, recurring to dispatch', () => {
    expect(DEFAULT_ANOMALY_CONFIG).to.deep.equal({ minimumScore: 0.85, lookbackWindow: '15m', recurring: 'dispatch' })
  })

  const windows: readonly [string, number | undefined][] = [
    ['15m', 900_000],
    ['1h30m', 5_400_000],
    ['7d', 604_800_000],
    ['0s', undefined],
    ['8d', undefined],
    ['15', undefined],
    ['15 m', undefined],
    ['-15m', undefined],
    ['', undefined],
    ['1'.repeat(400), undefined],
  ]
  for (const [text, ms] of windows)
    it(`lookbackWindow ${JSON.stringify(text.slice(0, 10))} is ${ms ?? 'refused'}`, () => expect(parseLookback(text)).to.equal(ms))
})
