import { expect } from 'chai'
import { describe, it } from 'mocha'
import { retryAfterMs } from './retry-after.ts'

describe('Retry-After', () => {
  const nowMs = Date.UTC(2026, 0, 1)
  const cases: readonly [string | undefined, number | undefined][] = [
    ['5', 5_000],
    ['0', 0],
    ['1.5', 1_500],
    ['Thu, 01 Jan 2026 00:00:10 GMT', 10_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
    ['', undefined],
    [undefined, undefined],
  ]
  for (const [header, ms] of cases) it(`${header}: ${ms}`, () => expect(retryAfterMs(header, nowMs)).to.equal(ms))
})
