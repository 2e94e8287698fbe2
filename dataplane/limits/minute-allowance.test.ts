import { expect } from 'chai'
import { describe, it } from 'mocha'
import { MinuteAllowance } from './minute-allowance.ts'

describe('an allowance of so many a minute', () => {
  it('gives those of a minute at once, then as they come', () => {
    const allowance = new MinuteAllowance(60, 0)
    expect(allowance.take(100, 0)).to.equal(60)
    expect(allowance.take(1, 999)).to.equal(0)
    expect(allowance.take(5, 3_000)).to.equal(3)
  })

  it('keeps those of one minute at most', () => {
    const allowance = new MinuteAllowance(60, 0)
    allowance.take(60, 0)
    expect(allowance.take(100, 3_600_000)).to.equal(60)
  })

  it('goes on when the clock was set back', () => {
    const allowance = new MinuteAllowance(60, 1_000_000)
    allowance.take(60, 1_000_000)
    expect(allowance.take(1, 0)).to.equal(0)
    expect(allowance.take(2, 2_000)).to.equal(2)
  })
})
