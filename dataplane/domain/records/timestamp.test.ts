import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { buildTimestamp, indexDay, parseUnixNano } from './timestamp.ts'

const DAY_MS = 86_400_000

describe('timestamp', () => {
  const parsed = [
    { name: 'a decimal string', input: '1674982208964574357', expected: '1674982208964574357' },
    { name: 'a number that is exact', input: 1_000, expected: '1000' },
    { name: 'absent', input: undefined, expected: '' },
    { name: '0 is unknown', input: '0', expected: '' },
    { name: 'the number 0 is unknown', input: 0, expected: '' },
    { name: 'zeros are unknown', input: '000', expected: '' },
    { name: 'leading zeros', input: '0001674982208964574357', expected: '1674982208964574357' },
    { name: 'the largest 64-bit value', input: '18446744073709551615', expected: '18446744073709551615' },
    { name: 'a larger one', input: '18446744073709551616', expected: undefined },
    { name: 'negative is unknown', input: '-6795364578871345152', expected: '' },
    { name: 'a negative number is unknown', input: -1, expected: '' },
    { name: 'a sign alone', input: '-', expected: undefined },
    { name: 'text of 19 characters', input: '167498220896457435x', expected: undefined },
    { name: 'a number beyond 2^53', input: 1.674982208964574e18, expected: undefined },
  ]
  for (const { name, input, expected } of parsed) it(`reads ${name}`, () => expect(parseUnixNano(input)).to.equal(expected))

  const built = [
    { name: 'at least three fraction digits', input: '1674982208000000000', iso: '2023-01-29T08:50:08.000Z', nanos: 0 },
    { name: 'as many of the nine as are significant', input: '1674982208964574300', iso: '2023-01-29T08:50:08.9645743Z', nanos: 574_300 },
    { name: 'nine of them', input: '1674982208964574357', iso: '2023-01-29T08:50:08.964574357Z', nanos: 574_357 },
    { name: 'the first nanosecond of 1970', input: '1', iso: '1970-01-01T00:00:00.000000001Z', nanos: 1 },
    { name: 'the first second of 1970', input: '1000000000', iso: '1970-01-01T00:00:01.000Z', nanos: 0 },
    { name: '2200', input: '7258118400000000001', iso: '2200-01-01T00:00:00.000000001Z', nanos: 1 },
    { name: 'the last time there is', input: '18446744073709551615', iso: '2554-07-21T23:34:33.709551615Z', nanos: 551_615 },
  ]
  for (const { name, input, iso, nanos } of built)
    it(`writes ISO-8601 in UTC: ${name}`, () => expect(buildTimestamp(input)).to.deep.include({ timeUnixNano: input, iso, nanos }))

  it('loses nothing: milliseconds and nanos make up the time again', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), time => {
        const { ms, nanos, iso } = buildTimestamp(String(time))
        expect(BigInt(ms) * 1_000_000n + BigInt(nanos)).to.equal(time)
        expect(iso).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,9}Z$/)
        expect(Date.parse(iso)).to.equal(ms)
      }),
      { seed: 2 },
    )
  })
})

describe('daily index: the UTC day of timestamp when that lies within retention and at most one day ahead', () => {
  const receivedAtMs = Date.UTC(2026, 10, 21, 12)
  const rule = { receivedAtMs, retentionDays: 30 }
  const nano = (ms: number) => `${ms}000000`
  const observed = nano(Date.UTC(2026, 10, 20))
  const cases = [
    { name: 'now', ms: receivedAtMs, observed, expected: '2026.11.21' },
    { name: 'just before midnight', ms: Date.UTC(2026, 10, 20, 23, 59, 59, 999), observed, expected: '2026.11.20' },
    { name: 'at the edge of retention', ms: receivedAtMs - 30 * DAY_MS, observed, expected: '2026.10.22' },
    { name: 'else the day of observedTimeUnixNano', ms: receivedAtMs - 30 * DAY_MS - 1, observed, expected: '2026.11.20' },
    { name: 'one day ahead', ms: receivedAtMs + DAY_MS, observed, expected: '2026.11.22' },
    { name: 'more than one day ahead', ms: receivedAtMs + DAY_MS + 1, observed, expected: '2026.11.20' },
    { name: '1970', ms: 1, observed, expected: '2026.11.20' },
    { name: '2200', ms: Date.UTC(2200, 0), observed, expected: '2026.11.20' },
    { name: 'without an observed time the day of arrival', ms: 1, observed: '', expected: '2026.11.21' },
    { name: 'with an observed time of 1970 the day of arrival', ms: 1, observed: '5', expected: '2026.11.21' },
  ]
  for (const { name, ms, observed, expected } of cases) it(name, () => expect(indexDay(ms, observed, rule)).to.equal(expected))
})
