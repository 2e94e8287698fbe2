import { expect } from 'chai'
import { describe, it } from 'mocha'
import { onceEvery } from './once-every.ts'

describe('once in a period', () => {
  const cases = [
    { name: 'at the first time', atMs: [5_000], expected: [true] },
    { name: 'not again within the period', atMs: [5_000, 5_001, 5_999], expected: [true, false, false] },
    {
      name: 'again when the period is over, which begins anew then',
      atMs: [5_000, 6_500, 7_000, 7_500],
      expected: [true, true, false, true],
    },
    { name: 'again when the clock was set back', atMs: [5_000, 4_000, 4_500], expected: [true, true, false] },
  ]
  for (const { name, atMs, expected } of cases)
    it(name, () => {
      const times = atMs.values()
      const isDue = onceEvery(1_000, () => times.next().value!)
      expect(atMs.map(() => isDue())).to.deep.equal(expected)
    })
})
