import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { FlatRecord } from '../domain/records/flat-record-fields.ts'
import {
  decodeCanonical,
  decodeFlatRecord,
  encodeFlatRecord,
  LAYOUT_HEADER,
  layoutText,
  MAX_FLAT_RECORD_BYTES,
  parseLayout,
  readHead,
} from './flat-record-layout.ts'

const CANONICAL: FlatRecord = {
  document_id: 'e8ea2a8a-3cc3-5aa2-822a-f92ae0800b77',
  index_day: '2026.11.21',
  '@timestamp': '2026-11-21T12:00:00.000Z',
  nanos: 0,
  time_unix_nano: '1',
  log_id: 'l',
  tenant_id: 'default',
  service: 's',
  level: 'INFO',
  severity_number: 9,
  message: 'größe "5" 😀',
  pattern_id: 'p',
  pattern: 'größe <*> 😀',
  ml_error_rate_1h: 0,
  ml_p99_latency_1h: 0,
  ml_request_rate_1h: 0,
  ml_anomaly_history_count: 0,
  enriched: true,
}
const ATTRIBUTES = new Map([
  ['service.name', '"s"'],
  ['user.id', '9223372036854775807'],
  ['é', '"ü"'],
  ['a.b', '1'],
  ['a_b', '2'],
  ['is.anomaly', 'true'],
])

describe('flat record on enriched-logs', () => {
  const { bytes: value, layout: parts } = encodeFlatRecord({ canonical: CANONICAL, attributes: ATTRIBUTES })
  const layout = layoutText(parts)

  it('carries the flattened attribute keys with underscores, and under attributes the original keys', () => {
    const record = JSON.parse(Buffer.from(value).toString())
    expect(record).to.include({ service_name: 's', é: 'ü', service: 's', message: CANONICAL.message })
    expect(record).to.not.have.property('is_anomaly')
    expect(record.a_b).to.equal(2)
    expect(record.attributes).to.include({ 'service.name': 's', 'a.b': 1, a_b: 2, 'is.anomaly': true })
  })

  it('reads the same with the layout and without', () => {
    const parsed = parseLayout(layout, value)
    expect(parsed).to.deep.equal(parts)
    expect(decodeCanonical(value, parsed)).to.deep.equal(CANONICAL)
    expect(decodeCanonical(value, undefined)).to.deep.equal(CANONICAL)
    expect(Object.fromEntries(decodeFlatRecord(value)!.attributes)).to.deep.equal(Object.fromEntries(ATTRIBUTES))
  })

  it('reads a record that somebody else wrote, with blanks', () => {
    const foreign = Buffer.from(JSON.stringify(JSON.parse(Buffer.from(value).toString()), null, 2))
    expect(decodeFlatRecord(foreign)?.canonical).to.deep.equal(CANONICAL)
    expect(decodeFlatRecord(foreign)?.attributes.get('a.b')).to.equal('1')
  })

  it('reads a record that has the fields of the specification alone, with attributes behind them', () => {
    const { '@timestamp': time, log_id, tenant_id, service, level, message } = CANONICAL
    const foreign = { '@timestamp': time, log_id, level, message, service, tenant_id, user_id: 'u' }
    const decoded = decodeFlatRecord(Buffer.from(JSON.stringify(foreign)))!
    expect(decoded.canonical).to.include({ '@timestamp': time, log_id, level, message, service, tenant_id, index_day: CANONICAL.index_day })
    expect(Object.fromEntries(decoded.attributes)).to.deep.equal({ user_id: '"u"' })
    expect(decodeCanonical(Buffer.from(JSON.stringify(foreign)), undefined)).to.deep.equal(decoded.canonical)
  })

  it('its head names document, day and tenant', () => {
    expect(readHead('default/s', value)).to.include({ documentId: CANONICAL.document_id, day: '2026.11.21', tenant: 'default' })
    for (const key of ['no tenant', 'default', '']) expect(readHead(key, value), key).to.equal(undefined)
    expect(readHead('default/s', Buffer.from('{}'))).to.equal(undefined)
  })

  const wrong = [
    undefined,
    '',
    '2;1;2;3;',
    layout.replace(/;\d+/, ';7'),
    layout.replace(/;(\d+);/, (_, end) => `;${Number(end) + 1};`),
    '1;999999;9999999;99999999;',
    `${layout}x`,
  ]
  for (const header of wrong)
    it(`a ${LAYOUT_HEADER} header ${JSON.stringify(header)} is not trusted`, () => expect(parseLayout(header, value)).to.equal(undefined))

  it('what is no flat record is none', () => {
    for (const text of ['', '[]', '{"message":1}', '{', 'null', '"x"'])
      expect(decodeCanonical(Buffer.from(text), undefined)).to.equal(undefined)
  })

  it('one that would be too large goes without the flattened copies', () => {
    const big = encodeFlatRecord({ canonical: CANONICAL, attributes: new Map([['x.y', `"${'z'.repeat(MAX_FLAT_RECORD_BYTES / 2)}"`]]) })
    expect(big.bytes.length).to.be.below(MAX_FLAT_RECORD_BYTES)
    const record = JSON.parse(Buffer.from(big.bytes).toString())
    expect(record).to.not.have.property('x_y')
    expect(decodeCanonical(big.bytes, big.layout)).to.deep.equal(CANONICAL)
  })
})
