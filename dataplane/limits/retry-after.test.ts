import { expect } from 'chai'
import { describe, it } from 'mocha'
import { retryAfterMs } from './retry-after.ts'

const NOW = Date.UTC(2026, 0, 1, 12)

describe('Retry-After', () => {
  const cases = [
    { header: undefined, expected: undefined },
    { header: '', expected: undefined },
    { header: 'soon', expected: undefined },
    { header: '30', expected: 30_000 },
    { header: '0', expected: 0 },
    { header: '0.5', expected: 500 },
    { header: '1.5', expected: 1_500 },
    { header: ['7', '9'], expected: 7_000 },
    { header: '-5', expected: undefined },
    { header: 'Thu, 01 Jan 2026 12:01:30 GMT', expected: 90_000 },
    { header: 'Thu, 01 Jan 2026 11:00:00 GMT', expected: 0 },
    { header: 'Thursday, 01-Jan-26 12:01:30 GMT', expected: 90_000 },
    { header: 'Thu Jan  1 12:01:30 2026', expected: 90_000 },
    { header: '2026-01-01T12:01:30Z', expected: 90_000 },
    { header: '2026-01-01T13:01:30+01:00', expected: 90_000 },
    { header: '2026-01-01T12:01:30', expected: 90_000 },
    { header: '99999999999', expected: 86_400_000 },
    { header: '30, 60', expected: 30_000 },
    ...['-5000', '+3600', '3600;', '"3600"', 'in 2099', '1e3', '3600 seconds'].map(header => ({ header, expected: undefined })),
  ]
  for (const { header, expected } of cases) it(`${header}: ${expected}`, () => expect(retryAfterMs(header, NOW)).to.equal(expected))
})
