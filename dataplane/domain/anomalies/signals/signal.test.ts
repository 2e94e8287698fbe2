import { expect } from 'chai'
import { describe, it } from 'mocha'
import { DEFAULT_ZSCORE_CONFIG } from '../zscore.ts'
import { SPEAKS, zOf } from './signal.ts'

describe('signals', () => {
  it('speak at the default threshold of the Z-score engine', () => {
    expect(SPEAKS).to.equal(DEFAULT_ZSCORE_CONFIG.anomalyThreshold)
    expect(zOf('delay', 6)).to.equal(SPEAKS)
  })
})
