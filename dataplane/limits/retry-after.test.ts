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
    { header: '99999999999', expected: 86_400_000 },
  ]
  for (const { header, expected } of cases) it(`${header}: ${expected}`, () => expect(retryAfterMs(header, NOW)).to.equal(expected))
})
