import { expect } from 'chai'
import { describe, it } from 'mocha'
import { attachRuntimeConfig, createRuntimeConfig } from './runtime-config.ts'

describe("the bridge's runtime configuration", () => {
  it('is seen at once wherever its memory is attached', () => {
    const config = createRuntimeConfig({ anomalyThreshold: 2.5, windowSize: 50 })
    const elsewhere = attachRuntimeConfig(config.buffer)
    expect(elsewhere.read()).to.deep.equal({ anomalyThreshold: 2.5, windowSize: 50 })
    config.write({ anomalyThreshold: 3, windowSize: 20 })
    expect(elsewhere.read()).to.deep.equal({ anomalyThreshold: 3, windowSize: 20 })
  })
})
