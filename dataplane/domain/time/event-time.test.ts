import { expect } from 'chai'
import { describe, it } from 'mocha'
import { formatEventTime, parseEventTime } from './event-time.ts'

const NOON = Date.UTC(2026, 10, 21, 12)

describe('event times of a push', () => {
  for (const [text, ms] of [
    ['2026-11-21T12:00:00Z', NOON],
    ['2026-11-21 12:00:00', NOON],
    ['2026-11-21 12:00', NOON],
    ['2026-11-21T14:00:00+02:00', NOON],
    ['2026-11-21 06:30:00-0530', NOON],
    ['2026-11-21 12:00:00+00', NOON],
    ['2026-11-21 12:00:00 UTC', NOON],
    ['2026-11-21T12:00:00.123456', NOON + 123],
    ['2026-11-21', NOON - 12 * 3_600_000],
    [NOON * 1e6, NOON],
  ] as const)
    it(`${text}`, () => expect(parseEventTime(text)).to.equal(ms))

  for (const value of [
    'yesterday',
    '',
    '12:00',
    '2026-13-01',
    '2026-11-21T25:00:00Z',
    null,
    undefined,
    true,
    {},
    Number.NaN,
    1e300,
    -1e300,
    8.65e21,
  ])
    it(`${JSON.stringify(value) ?? 'undefined'} is none`, () => expect(parseEventTime(value)).to.equal(undefined))

  it('are written without a fraction where there is none', () => {
    expect(formatEventTime(NOON)).to.equal('2026-11-21T12:00:00Z')
    expect(formatEventTime(NOON + 5)).to.equal('2026-11-21T12:00:00.005Z')
  })
})
