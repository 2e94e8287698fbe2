import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseUploadTime } from './upload-time.ts'

const NOON = BigInt(Date.UTC(2026, 10, 22, 12)) * 1_000_000n

describe('times of uploaded entries', () => {
  for (const [value, nanos] of [
    ['2026-11-22T12:00:00Z', NOON],
    ['2026-11-22T12:00:00.123456789Z', NOON + 123_456_789n],
    ['2026-11-22T12:00:00.1234567891Z', NOON + 123_456_789n],
    ['2026-11-22 12:00:00,250', NOON + 250_000_000n],
    ['2026/11/22 12:00:00', NOON],
    ['2026-11-22T14:00:00+02:00', NOON],
    ['2026-11-22T12:00', NOON],
    ['2026-11-22', NOON - 43_200_000_000_000n],
    ['22/Nov/2026:12:00:00 +0000', NOON],
    ['Sun, 22 Nov 2026 12:00:00 GMT', NOON],
    [Number(NOON / 1_000_000_000n), NOON],
    [Number(NOON / 1_000_000_000n) + 0.25, NOON + 250_000_000n],
    [Number(NOON / 1_000_000n), NOON],
    [Number(NOON / 1_000n), NOON],
    [NOON + 1n, NOON + 1n],
    [String(NOON + 1n), NOON + 1n],
    ['2554-07-21T23:34:33.709551615Z', 2n ** 64n - 1n],
    [18_446_744_073, 18_446_744_073_000_000_000n],
  ] as const)
    it(`${value}`, () => expect(parseUploadTime(value)).to.equal(nanos))

  for (const value of [
    'yesterday',
    '',
    '12:00',
    '2026-13-01',
    '1969-12-31T23:59:59Z',
    '9999-12-31T23:59:59Z',
    '2554-07-21T23:34:33.709551616Z',
    99_999_999_999,
    18_446_744_073_710,
    0,
    12.5,
    -1,
    2n ** 64n,
    null,
    undefined,
    true,
    {},
    Number.NaN,
  ])
    it(`${typeof value === 'bigint' ? value : (JSON.stringify(value) ?? 'undefined')} is none`, () =>
      expect(parseUploadTime(value)).to.equal(undefined))
})
