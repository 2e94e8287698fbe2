import { expect } from 'chai'
import { describe, it } from 'mocha'
import { isRecent } from './is-recent.ts'

describe('what was learnt lately holds', () => {
  const cases = [
    { name: 'at once', atMs: 5_000, nowMs: 5_000, expected: true },
    { name: 'within its time', atMs: 5_000, nowMs: 5_999, expected: true },
    { name: 'when its time is over', atMs: 5_000, nowMs: 6_000, expected: false },
    { name: 'when the clock was set back', atMs: 5_000, nowMs: 4_999, expected: false },
    { name: 'when it never was', atMs: Number.NEGATIVE_INFINITY, nowMs: 0, expected: false },
  ]
  for (const { name, atMs, nowMs, expected } of cases)
    it(`${name}: ${expected}`, () => expect(isRecent(atMs, 1_000, nowMs)).to.equal(expected))
})
