import { expect } from 'chai'
import { describe, it } from 'mocha'
import { isAnomaly } from './anomaly-form.ts'

describe('the form of an anomaly', () => {
  const ANOMALY = {
    ...{ id: 'a', log_id: 'l', document_id: 'd', timestamp: '2026-11-21T10:00:00.123Z', tenant_id: 'acme', service: 'cart' },
    ...{ level: 'ERROR', message: 'm', pattern_id: '0123456789abcdef', pattern: 'm' },
    ...{ score: 0.5, anomaly_score: 0, detectors: ['rule'], reasons: ['timeout'] },
  }

  it('is that of a whole one, with and without what it need not have', () => {
    for (const more of [{}, { trace_id: 't', span_id: 's', signal: 'silent', incident_id: 'i' }, { detectors: [], reasons: [] }])
      expect(isAnomaly({ ...ANOMALY, ...more }), JSON.stringify(more)).to.equal(true)
  })

  for (const name of Object.keys(ANOMALY))
    it(`is not that of one without ${name}, or with null or an object there`, () => {
      for (const value of [undefined, null, {}]) expect(isAnomaly({ ...ANOMALY, [name]: value })).to.equal(false)
    })

  for (const more of [
    { id: 'x'.repeat(600) },
    { tenant_id: '../x' },
    { timestamp: 'x' },
    { level: 'XX' },
    { score: Number.NaN },
    { reasons: [5] },
    { signal: 5 },
  ])
    it(`is not that of one with ${JSON.stringify(more).slice(0, 60)}`, () => expect(isAnomaly({ ...ANOMALY, ...more })).to.equal(false))
})
