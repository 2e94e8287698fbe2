import { expect } from 'chai'
import { describe, it } from 'mocha'
import { clockTime, elapsed, utcTime } from './times.ts'

describe('times in tickets', () => {
  it('are in UTC and say so', () => {
    expect(utcTime('2026-01-01T11:03:11.204+01:00')).to.equal('2026-01-01 10:03:11 UTC')
    expect(clockTime('2026-01-01T10:03:11.204Z')).to.equal('10:03:11.204')
    expect(utcTime('yesterday')).to.equal('yesterday')
  })

  const from = '2026-01-01T00:00:00.000Z'
  const cases = [
    { to: '2026-01-01T00:00:00.400Z', expected: '0 s' },
    { to: '2026-01-01T00:00:42.000Z', expected: '42 s' },
    { to: '2026-01-01T00:14:00.000Z', expected: '14 min' },
    { to: '2026-01-01T00:14:05.000Z', expected: '14 min 5 s' },
    { to: '2026-01-01T02:05:59.000Z', expected: '2 h 5 min' },
    { to: '2026-01-03T01:59:00.000Z', expected: '2 d 1 h' },
    { to: '2025-12-31T00:00:00.000Z', expected: undefined },
    { to: 'later', expected: undefined },
  ]
  for (const { to, expected } of cases) it(`between two: ${expected}`, () => expect(elapsed(from, to)).to.equal(expected))
})
