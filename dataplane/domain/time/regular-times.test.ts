import { expect } from 'chai'
import { describe, it } from 'mocha'
import { areRegular } from './regular-times.ts'

describe('regular times', () => {
  it('lie a period apart, by some jitter', () => {
    expect(areRegular([0, 60, 121, 180], 2)).to.equal(true)
    expect(areRegular([0, 60, 125, 180], 2)).to.equal(false)
  })

  it('or a few periods', () => {
    expect(areRegular([0, 120, 180, 240], 2)).to.equal(true)
    expect(areRegular([0, 90, 150, 210], 2)).to.equal(false)
  })

  it('are none where jitter takes up too much of the period, and none where there are two', () => {
    expect(areRegular([0, 20, 40, 60], 2)).to.equal(false)
    expect(areRegular([0, 60], 2)).to.equal(false)
    expect(areRegular([0, 60, 600, 660], 2)).to.equal(false)
  })
})
