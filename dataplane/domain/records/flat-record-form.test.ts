import { expect } from 'chai'
import { describe, it } from 'mocha'
import { completeRecord } from './complete-record.ts'
import { isFlatRecord } from './flat-record-form.ts'

describe('the form of a flat record', () => {
  const RECORD = {
    ...completeRecord({
      ...{ '@timestamp': '2026-11-21T10:00:00.123456789Z', log_id: '7a4a3034-3e14-543f-83e1-a78a3b4318bc', tenant_id: 'acme' },
      ...{ level: 'ERROR', message: 'm', service: 'cart' },
    })!,
  }

  it('is that of a whole record, with and without what it need not have', () => {
    const optional = { trace_id: 't', span_id: 's', host: 'h', environment: 'e', region: 'r', batch_id: 'b', severity_number: 17 }
    for (const more of [{}, optional, { others: {} }, { message: '', service: '' }])
      expect(isFlatRecord({ ...RECORD, ...more }), JSON.stringify(more)).to.equal(true)
  })

  for (const name of Object.keys(RECORD))
    it(`is not that of one without ${name}, or with null or an object there`, () => {
      for (const value of [undefined, null, {}]) expect(isFlatRecord({ ...RECORD, [name]: value })).to.equal(false)
    })

  for (const more of [
    ...[{ document_id: '' }, { document_id: 'x'.repeat(600) }, { document_id: 'a b' }, { index_day: '../x' }, { index_day: '*' }],
    ...[{ '@timestamp': '2026-11-21' }, { '@timestamp': '+010000-01-01T00:00:00.000Z' }, { tenant_id: '*' }, { tenant_id: '__proto__' }],
    ...[{ level: 'CRITICAL' }, { level: '__proto__' }, { nanos: -1 }, { nanos: 1e6 }, { nanos: 0.5 }, { time_unix_nano: '-1' }],
    ...[
      { ml_error_rate_1h: Number.NaN },
      { ml_error_rate_1h: '0.5' },
      { enriched: 1 },
      { trace_id: null },
      { host: 5 },
      { severity_number: 'x' },
    ],
  ])
    it(`is not that of one with ${JSON.stringify(more).slice(0, 60)}`, () => expect(isFlatRecord({ ...RECORD, ...more })).to.equal(false))
})
