import { expect } from 'chai'
import { describe, it } from 'mocha'
import { enrich } from './enrichment.ts'

const ZEROS = { ml_error_rate_1h: 0, ml_p99_latency_1h: 0, ml_request_rate_1h: 0, ml_anomaly_history_count: 0 }

describe('enrichment appends the four ML fields and enriched: true', () => {
  it('the features of the record’s service', () => {
    const features = { ml_error_rate_1h: 0.3, ml_p99_latency_1h: 120, ml_request_rate_1h: 4.5, ml_anomaly_history_count: 2 }
    expect(enrich(features)).to.deep.equal({ ...features, enriched: true })
  })
  it('a service without features gets zeros and enriched: true', () => {
    expect(enrich(undefined)).to.deep.equal({ ...ZEROS, enriched: true })
  })
  it('a feature store that cannot be reached gives zeros and enriched: false', () => {
    expect(enrich('unreachable')).to.deep.equal({ ...ZEROS, enriched: false })
  })
  it('what is no number counts as 0', () => {
    expect(enrich({ ...ZEROS, ml_error_rate_1h: Number.NaN, ml_anomaly_history_count: 2.9 })).to.include({
      ml_error_rate_1h: 0,
      ml_anomaly_history_count: 2,
    })
  })
})
