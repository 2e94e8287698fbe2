import { expect } from 'chai'
import { describe, it } from 'mocha'
import { MinuteSeries } from './minute-series.ts'

function spreadOf(counts: readonly number[]): number {
  const series = new MinuteSeries()
  for (const [minute, count] of counts.entries()) for (let i = 0; i < count; i++) series.addBefore(minute)
  return series.spread(counts.length)
}

describe('counts by minute', () => {
  it('differ by chance alone where minutes are alike', () => {
    expect(spreadOf([0, 0])).to.equal(1)
    expect(spreadOf([20, 20, 20, 20])).to.equal(1)
  })
  it('differ by more than chance where they come in bursts', () => {
    expect(spreadOf([0, 0, 80, 0])).to.be.above(30)
  })
})
