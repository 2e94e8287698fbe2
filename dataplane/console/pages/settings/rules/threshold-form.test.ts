import { expect } from 'chai'
import { describe, it } from 'mocha'
import { DEFAULT_ANOMALY_CONFIG } from '../../../../domain/incidents/anomaly-config.ts'
import { openThresholds, thresholdChanges, thresholdEdits, thresholdProblems } from './threshold-form.ts'

const stored = openThresholds(DEFAULT_ANOMALY_CONFIG, { anomalyThreshold: 2.5, windowSize: 50 })

describe('the form of thresholds', () => {
  it('sends to each service what changed for it', () => {
    expect(thresholdChanges(stored, stored)).to.deep.equal({ anomaly: undefined, bridge: undefined })
    expect(thresholdChanges({ ...stored, minimumScore: 0.7, windowSize: 100 }, stored)).to.deep.equal({
      anomaly: { minimumScore: 0.7 },
      bridge: { windowSize: 100 },
    })
    const withoutBridge = openThresholds(DEFAULT_ANOMALY_CONFIG, undefined)
    expect(thresholdChanges({ ...withoutBridge, recurring: 'quiet' }, withoutBridge)).to.deep.equal({
      anomaly: { recurring: 'quiet' },
      bridge: undefined,
    })
  })

  it('keeps what was edited since it was sent', () => {
    const sent = { ...stored, minimumScore: 0.7 }
    expect(thresholdEdits(sent, sent)).to.deep.equal({})
    expect(thresholdEdits({ ...sent, windowSize: 100 }, sent)).to.deep.equal({ windowSize: 100 })
  })

  it('names the field that is out of its bounds', () => {
    expect(thresholdProblems(stored)).to.deep.equal({})
    const wrong = { ...stored, minimumScore: Number.NaN, lookbackWindow: 'soon', anomalyThreshold: 0, windowSize: 9.5 }
    expect(thresholdProblems(wrong)).to.have.all.keys('minimumScore', 'lookbackWindow', 'anomalyThreshold', 'windowSize')
  })
})
