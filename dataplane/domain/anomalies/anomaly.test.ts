import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { FlatRecord } from '../records/flat-record-fields.ts'
import { anomalyId, buildAnomaly, MAX_ANOMALY_MESSAGE } from './anomaly.ts'

const RECORD: FlatRecord = {
  document_id: 'e8ea2a8a-3cc3-5aa2-822a-f92ae0800b77',
  index_day: '2026.11.21',
  '@timestamp': '2026-11-21T12:00:00.000Z',
  nanos: 0,
  time_unix_nano: '1',
  log_id: 'l',
  tenant_id: 'default',
  service: 's',
  level: 'ERROR',
  message: 'Read timed out',
  pattern_id: 'p',
  pattern: 'Read timed out',
  trace_id: 't',
  ml_error_rate_1h: 0,
  ml_p99_latency_1h: 0,
  ml_request_rate_1h: 0,
  ml_anomaly_history_count: 0,
  enriched: true,
}

describe('anomaly', () => {
  it('an anomaly found by both engines is one anomaly', () => {
    expect(buildAnomaly(RECORD, { score: 0.5, zscore: 4 })).to.deep.equal({
      id: anomalyId(RECORD.document_id),
      log_id: 'l',
      document_id: RECORD.document_id,
      timestamp: '2026-11-21T12:00:00.000Z',
      tenant_id: 'default',
      service: 's',
      level: 'ERROR',
      message: 'Read timed out',
      pattern_id: 'p',
      pattern: 'Read timed out',
      trace_id: 't',
      score: 0.5,
      anomaly_score: 4,
      detectors: ['rule', 'zscore'],
      reasons: ['level ERROR: +0.3', 'message matches timeout: +0.2', 'z-score 4'],
    })
  })

  it('names the engine that found it', () => {
    expect(buildAnomaly(RECORD, { score: 0.5, zscore: 0 }).detectors).to.deep.equal(['rule'])
    expect(buildAnomaly(RECORD, { score: 0.3, zscore: 3 }).detectors).to.deep.equal(['zscore'])
  })

  it('its id derives from the document id', () => {
    expect(anomalyId(RECORD.document_id)).to.equal(anomalyId(RECORD.document_id))
    expect(anomalyId(RECORD.document_id)).to.not.equal(anomalyId('other'))
  })

  it('a very long message is cut in it', () => {
    const { message } = buildAnomaly({ ...RECORD, message: 'x'.repeat(1e5) }, { score: 0.5, zscore: 0 })
    expect(message.length).to.equal(MAX_ANOMALY_MESSAGE)
  })
})
