import { expect } from 'chai'
import { describe, it } from 'mocha'
import { decodeCanonical, encodeFlatRecord } from './flat-record-layout.ts'
import { findScoredFields } from './scored-fields.ts'
import { signalFieldsOf } from './signal-fields.ts'

const CANONICAL = {
  document_id: 'e8ea2a8a-3cc3-5aa2-822a-f92ae0800b77',
  index_day: '2026.11.21',
  '@timestamp': '2026-11-21T12:34:56.789012Z',
  nanos: 12_000,
  time_unix_nano: '1795264496789012000',
  log_id: 'l',
  tenant_id: 'default',
  service: 'checkout',
  level: 'INFO' as const,
}
const REST = {
  message: 'größe "5"\n',
  pattern_id: '7319bf39a667e8ee',
  pattern: 'größe "<*>"\n',
  ml_error_rate_1h: 0,
  ml_p99_latency_1h: 0,
  ml_request_rate_1h: 0,
  ml_anomaly_history_count: 0,
  enriched: true,
}
const TRACE = '405f80fe44d6996911a7a50abc79280a'
const SPAN = 'dd84024eb1cbced4'

describe('the fields that signals need', () => {
  for (const [name, ids] of [
    ['trace and span', { trace_id: TRACE, span_id: SPAN }],
    ['a trace alone', { trace_id: TRACE }],
    ['neither', {}],
    ['a span alone', { span_id: SPAN }],
  ] as const)
    it(`are found by their place as in the parsed record: ${name}`, () => {
      const { bytes, layout } = encodeFlatRecord({ canonical: { ...CANONICAL, ...ids, ...REST }, attributes: new Map() })
      const { timeMs, visitHash, patternHash, pattern } = findScoredFields(bytes, 0, layout.canonicalEnd)!
      expect({ timeMs, visitHash, patternHash, pattern }).to.deep.equal(signalFieldsOf(decodeCanonical(bytes, layout)!))
      expect(timeMs).to.equal(Date.UTC(2026, 10, 21, 12, 34, 56, 789))
      expect(visitHash !== 0).to.equal('trace_id' in ids)
    })
})
