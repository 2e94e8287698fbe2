import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import type { Anomaly } from '../../../../domain/anomalies/anomaly.ts'
import { createGrouping } from '../../../../domain/incidents/grouping.ts'
import { compareCaught, countCaught } from './would-have-caught.ts'

const START = Date.parse('2026-01-01T00:00:00Z')
const LOOKBACK_MS = 15 * 60_000

const anomaly = (minute: number, score: number, overrides: Partial<Anomaly> = {}): Anomaly => ({
  ...{ id: `${minute}`, log_id: `${minute}`, document_id: `${minute}`, tenant_id: 'default', service: 'checkout', message: '' },
  ...{ level: 'ERROR', pattern_id: 'p', pattern: 'p', score, anomaly_score: 0, detectors: ['rule'], reasons: [] },
  timestamp: new Date(START + minute * 60_000).toISOString(),
  ...overrides,
})

const THRESHOLDS = { minimumScore: 0.85, lookbackMs: LOOKBACK_MS }

describe('what thresholds would have caught', () => {
  it('three within five minutes are one incident, two are none, one of the minimum score is one', () => {
    const caught = countCaught(
      [
        ...[0, 1, 2, 3].map(minute => anomaly(minute, 0.5)),
        ...[0, 1].map(minute => anomaly(minute, 0.5, { service: 'cart' })),
        anomaly(0, 0.9, { service: 'db', level: 'FATAL' }),
      ],
      THRESHOLDS,
    )
    expect(caught).to.deep.equal({
      anomalies: 7,
      incidents: 2,
      bySeverity: { critical: 1, high: 0, medium: 1, low: 0 },
      byService: [
        { service: 'checkout', incidents: 1 },
        { service: 'db', incidents: 1 },
      ],
    })
  })

  it('services that share a trace make the incidents of each severer, within one tenant', () => {
    const shared = (service: string, overrides: Partial<Anomaly> = {}) =>
      [0, 1, 2].map(minute => anomaly(minute, 0.5, { service, trace_id: `trace ${minute}`, ...overrides }))
    const severities = (anomalies: readonly Anomaly[]) => countCaught(anomalies, THRESHOLDS).bySeverity
    expect(severities([...shared('cart'), ...shared('checkout')])).to.include({ high: 2, medium: 0 })
    expect(severities([...shared('cart'), ...shared('checkout'), ...shared('orders')])).to.include({ critical: 3 })
    expect(severities([...shared('cart'), ...shared('checkout', { tenant_id: 'other' })])).to.include({ high: 0, medium: 2 })
  })

  it('after the look-back another incident begins', () => {
    const twice = [0, 20].map(minute => anomaly(minute, 0.9))
    expect(countCaught(twice, THRESHOLDS).incidents).to.equal(2)
    expect(countCaught(twice, { ...THRESHOLDS, lookbackMs: 2 * LOOKBACK_MS }).incidents).to.equal(1)
  })

  it('a higher Z-score threshold leaves out what only the Z-score engine found below it', () => {
    const all = [0, 1, 2].map(minute => anomaly(minute, 0.1, { detectors: ['zscore'], anomaly_score: 3 }))
    expect(countCaught(all, { ...THRESHOLDS, anomalyThreshold: 3 }).incidents).to.equal(1)
    expect(countCaught(all, { ...THRESHOLDS, anomalyThreshold: 3.5 })).to.include({ incidents: 0, anomalies: 0 })
  })

  it('agrees with the grouping of the bridge on anomalies of one kind', () => {
    const minutes = fc.uniqueArray(fc.integer({ min: 0, max: 1_440 }), { maxLength: 80 })
    const settings = {
      minimumScore: fc.constantFrom(0.5, 0.6, 0.85, 1),
      lookbackMs: fc.constantFrom(1_000, 60_000, LOOKBACK_MS, 3_600_000),
    }
    fc.assert(
      fc.property(minutes, fc.record(settings), (seen, config) => {
        const anomalies = seen.toSorted((a, b) => a - b).map(minute => anomaly(minute, 0.6))
        const grouping = createGrouping()
        const opened = anomalies.flatMap(each => grouping.add(each, config)).filter(({ kind }) => kind === 'open').length
        expect(countCaught(anomalies, config).incidents).to.equal(opened)
      }),
    )
  })

  it('is compared with what is stored', () => {
    const of = (incidents: number) => ({ ...countCaught([], THRESHOLDS), incidents })
    expect(compareCaught(of(3), of(3))).to.match(/^As many/)
    expect(compareCaught(of(2), of(3))).to.match(/^1 fewer incident than/)
    expect(compareCaught(of(9), of(3))).to.match(/^6 more incidents than/)
  })
})
