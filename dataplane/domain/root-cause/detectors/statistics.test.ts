import { expect } from 'chai'
import { describe, it } from 'mocha'
import { countShift, deviation, mean, median, quantile, sharedShift, shareShift } from './statistics.ts'

describe('statistics of the detectors', () => {
  it('a share that stays is no shift, a larger one is positive, a smaller one negative', () => {
    expect(shareShift([50, 5], [100, 10])).to.be.closeTo(0, 1e-6)
    expect(shareShift([10, 9], [100, 10])).to.be.above(5)
    expect(shareShift([90, 1], [100, 10])).to.be.below(-5)
  })

  it('a share has no shift where a side is empty or all agree', () => {
    for (const [count, of] of [
      [
        [0, 0],
        [0, 0],
      ],
      [
        [0, 3],
        [0, 3],
      ],
      [
        [4, 3],
        [4, 3],
      ],
      [
        [0, 0],
        [4, 3],
      ],
    ] as const)
      expect(shareShift([...count], [...of])).to.equal(0)
  })

  it('a shift counts as far as the baseline shows it with its third part and without it', () => {
    const shown = (count: [number, number, number], of: [number, number, number]) => {
      const { count: counted, of: units } = sharedShift(count, of) ?? {}
      return { counted, units }
    }
    // Never in 20 without the further ten, in 8 of 30 with them: the lesser.
    expect(shown([0, 6, 8], [20, 20, 10])).to.deep.equal({ counted: [8, 6], units: [30, 20] })
    expect(shown([0, 6, 0], [20, 20, 10])).to.deep.equal({ counted: [0, 6], units: [20, 20] })
    // More of it without them, less of it with them.
    expect(sharedShift([0, 6, 30], [20, 20, 30])).to.equal(undefined)
    expect(sharedShift([0, 6, 8], [0, 20, 10])).to.equal(undefined)
    expect(sharedShift([0, 6, 0], [20, 20, 0])!.shift).to.equal(shareShift([0, 6], [20, 20]))
  })

  it('a count is held against what is expected, less strictly where minutes differ much', () => {
    expect(countShift(100, 100, 1)).to.equal(0)
    expect(countShift(150, 100, 1)).to.be.closeTo(4.65, 0.01)
    expect(countShift(0, 50, 1)).to.equal(-10)
    expect(countShift(0, 50, 4)).to.equal(-5)
  })

  it('quantiles lie between neighbours', () => {
    expect(quantile([1, 2, 3, 4], 0.5)).to.equal(2.5)
    expect(quantile([7], 0.9)).to.equal(7)
    expect(median([3, 1, 2])).to.equal(2)
    expect([mean([1, 3]), deviation([1, 3])]).to.deep.equal([2, 1])
  })
})
