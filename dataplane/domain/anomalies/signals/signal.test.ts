import { expect } from 'chai'
import { describe, it } from 'mocha'
import { DEFAULT_ZSCORE_CONFIG } from '../zscore.ts'
import { deviationsOf, limitFor, SPEAKS, zOf } from './signal.ts'

describe('signals', () => {
  it('speak at the default threshold of the Z-score engine, at their limit', () => {
    expect(SPEAKS).to.equal(DEFAULT_ZSCORE_CONFIG.anomalyThreshold)
    expect(zOf(limitFor(30), 30)).to.equal(SPEAKS)
  })

  it('speak by chance once in a thousand hours of a service, however much is compared', () => {
    // Upper tails of a normal distribution: 8.33e-6, and a hundredth of it.
    expect(limitFor(1)).to.be.closeTo(4.31, 0.01)
    expect(limitFor(100)).to.be.closeTo(5.24, 0.01)
  })

  it('measure an unlikely count in deviations', () => {
    expect(deviationsOf(Math.log(0.001_35))).to.be.closeTo(3, 0.05)
    expect(deviationsOf(Math.log(2.87e-7))).to.be.closeTo(5, 0.01)
    expect(deviationsOf(Math.log(0.5))).to.equal(0)
  })
})
