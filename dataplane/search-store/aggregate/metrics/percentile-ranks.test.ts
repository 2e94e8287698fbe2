import { expect } from 'chai'
import { describe, it } from 'mocha'
import { openQueryMemory } from '../../query/budget/query-memory.ts'
import { PercentileSketch } from './percentiles.ts'

describe('ranks among many values', () => {
  it('are near the exact ones once values are counted in steps', () => {
    const memory = openQueryMemory()
    const sketch = new PercentileSketch(memory)
    const count = 200_000
    for (let value = 1; value <= count; value++) sketch.add(value - count / 4)
    for (const value of [-count / 8, -1, 1, count / 4, count / 2]) {
      const exact = ((value + count / 4) / count) * 100
      expect(sketch.rank(value)).to.be.closeTo(exact, 0.5)
    }
    expect(sketch.rank(-count)).to.equal(0)
    expect(sketch.rank(count)).to.equal(100)
    memory.release()
  })
})
