/** A scan finds the numbers that are in a range, at its bounds as well. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { inRange } from '../bind/condition.ts'
import { listDocs } from './doc-set.ts'
import { scanRange } from './scan-range.ts'

const EDGES = [
  ...[0, -0, Number.MIN_VALUE, -Number.MIN_VALUE, Number.MAX_VALUE, -Number.MAX_VALUE],
  ...[Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 800, 800.0000000000001, 799.9999999999999, -800, 1e-310],
]

describe('numbers in a range', () => {
  it('are found up to bounds, with them or without', () => {
    const size = 77
    const values = Float64Array.from({ length: size }, (_none, at) => [...EDGES, Number.NaN][at % (EDGES.length + 1)]!)
    for (const min of EDGES)
      for (const max of EDGES)
        for (const [includeMin, includeMax] of [
          [true, true],
          [true, false],
          [false, true],
          [false, false],
        ] as const) {
          // biome-ignore format: one line
          const range = { min, max, includeMin, includeMax }
          const expected = [...values.keys()].filter(doc => inRange(values[doc]!, range))
          expect([...listDocs(scanRange({ values }, size, range), size)], JSON.stringify([String(min), String(max), range])).to.deep.equal(
            expected,
          )
        }
  })
})
