import { expect } from 'chai'
import { describe, it } from 'mocha'
import { completeRecord } from './complete-record.ts'
import { buildPattern } from './pattern.ts'

/** Fields that the specification lists, and no more. */
const SPECIFIED = {
  '@timestamp': '2026-11-21T10:00:00.123456789Z',
  log_id: '7a4a3034-3e14-543f-83e1-a78a3b4318bc',
  level: 'ERROR',
  message: 'order 7: connection refused',
  service: 'cart',
  tenant_id: 'acme',
  trace_id: '0af7651916cd43dd8448eb211c80319c',
  span_id: 'b7ad6b7169203331',
}

describe('a flat record of another writer', () => {
  it('is completed by what follows from its fields', () => {
    const { document_id, ...rest } = completeRecord(SPECIFIED)!
    expect(document_id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(rest).to.deep.equal({
      ...SPECIFIED,
      time_unix_nano: '1795255200123456789',
      nanos: 456_789,
      index_day: '2026.11.21',
      pattern_id: buildPattern(SPECIFIED.message).id,
      pattern: buildPattern(SPECIFIED.message).text,
      ml_error_rate_1h: 0,
      ml_p99_latency_1h: 0,
      ml_request_rate_1h: 0,
      ml_anomaly_history_count: 0,
      enriched: false,
    })
  })

  it('keeps its features, and what it says of itself', () => {
    const features = { ml_error_rate_1h: 0.3, ml_p99_latency_1h: 12, ml_request_rate_1h: 4, ml_anomaly_history_count: 2, enriched: true }
    expect(completeRecord({ ...SPECIFIED, ...features })).to.include(features)
    expect(completeRecord({ ...SPECIFIED, document_id: 'd', index_day: '2026.11.22', nanos: 5 })).to.include({
      ...{ document_id: 'd', index_day: '2026.11.22', nanos: 5 },
    })
  })

  it('has one id whatever its features are, and another one where its content is another', () => {
    const idOf = (more: object) => completeRecord({ ...SPECIFIED, ...more })!.document_id
    expect(idOf({ enriched: true, ml_error_rate_1h: 0.3 })).to.equal(idOf({}))
    const reordered = Object.fromEntries(Object.entries(SPECIFIED).reverse())
    expect(completeRecord(reordered)!.document_id).to.equal(idOf({}))
    const others = [{ message: 'm' }, { tenant_id: 'globex' }, { user_id: 'u' }, { level: 'WARN' }, { log_id: 'x' }].map(idOf)
    expect(new Set([idOf({}), ...others]).size).to.equal(6)
  })

  it('takes levels as OTLP does, and times of any precision and offset', () => {
    expect(completeRecord({ ...SPECIFIED, level: 'CRITICAL' })).to.include({ level: 'FATAL' })
    for (const [text, nano, day] of [
      ['2026-11-21T10:00:00Z', '1795255200000000000', '2026.11.21'],
      ['2026-11-21T00:30:00.5+01:00', '1795217400500000000', '2026.11.20'],
    ] as const)
      expect(completeRecord({ ...SPECIFIED, '@timestamp': text }), text).to.include({ time_unix_nano: nano, index_day: day })
  })

  it('with null for what it has not is one without', () => {
    const nulls = { trace_id: null, span_id: null, host: null, batch_id: null, ml_error_rate_1h: null, enriched: null, user_id: null }
    const { trace_id: _trace, span_id: _span, ...without } = SPECIFIED
    expect(completeRecord({ ...SPECIFIED, ...nulls })).to.deep.equal(completeRecord(without))
  })

  it('is not believed what it cannot be', () => {
    const wrong = { document_id: 'x'.repeat(600), index_day: '../x', time_unix_nano: 5, nanos: 'a', pattern_id: {}, pattern: [] }
    const { document_id, ...rest } = completeRecord(SPECIFIED)!
    expect(completeRecord({ ...SPECIFIED, ...wrong })).to.include({ ...rest })
    expect(completeRecord({ ...SPECIFIED, ...wrong })!.document_id).to.have.length(document_id.length)
  })

  for (const [title, more] of [
    ['a trace that is no text', { trace_id: { a: 1 } }],
    ['a host that is no text', { host: 5 }],
    ['a feature that is no number', { ml_error_rate_1h: 'high' }],
    ['a feature that is none', { ml_p99_latency_1h: Number.POSITIVE_INFINITY }],
    ['`enriched` that is no boolean', { enriched: 'yes' }],
    ['a year of five digits', { '@timestamp': '+010000-01-01T00:00:00Z' }],
    ['a time that is none', { '@timestamp': 'yesterday' }],
    ['a time in another form', { '@timestamp': 'Nov 21 2026' }],
    ['a time before 1970', { '@timestamp': '1969-12-31T23:59:59Z' }],
    ['a tenant that is none', { tenant_id: 'No Tenant' }],
    ['no message', { message: undefined }],
    ['a level that is no text', { level: 3 }],
  ] as const)
    it(`with ${title} is none`, () => expect(completeRecord({ ...SPECIFIED, ...more })).to.equal(undefined))
})
