import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { formatUptime, parseDuration } from './duration.ts'

describe('duration strings', () => {
  const cases = [
    { text: '15m', ms: 900_000 },
    { text: '1h30m', ms: 5_400_000 },
    { text: '90s', ms: 90_000 },
    { text: '250ms', ms: 250 },
    { text: '1.5h', ms: 5_400_000 },
    { text: '2d', ms: 172_800_000 },
    { text: '0s', ms: 0 },
    { text: '', ms: undefined },
    { text: '15', ms: undefined },
    { text: 'm', ms: undefined },
    { text: '-15m', ms: undefined },
    { text: '15 m', ms: undefined },
    { text: '15m!', ms: undefined },
    { text: '1e3s', ms: undefined },
  ]
  for (const { text, ms } of cases) it(`${JSON.stringify(text)} is ${ms ?? 'no duration'}`, () => expect(parseDuration(text)).to.equal(ms))

  it('are the sum of their parts', () => {
    const part = fc.nat(1_000_000)
    fc.assert(
      fc.property(
        part,
        part,
        part,
        part,
        (h, m, s, ms) => parseDuration(`${h}h${m}m${s}s${ms}ms`) === ((h * 60 + m) * 60 + s) * 1_000 + ms,
      ),
      { seed: 6 },
    )
  })
})

describe('uptime, as Go prints durations', () => {
  const cases = [
    { ms: 3_723_400, expected: '1h2m3.4s' },
    { ms: 0, expected: '0s' },
    { ms: 250, expected: '0.25s' },
    { ms: 120_000, expected: '2m0s' },
    { ms: 3_600_000, expected: '1h0m0s' },
    { ms: 90_061_001, expected: '25h1m1.001s' },
  ]
  for (const { ms, expected } of cases) it(expected, () => expect(formatUptime(ms)).to.equal(expected))
})
