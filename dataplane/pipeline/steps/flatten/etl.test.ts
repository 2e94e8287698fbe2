import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { LAYOUT_HEADER, parseLayout } from '../../flat-record-layout.ts'
import { createEtl, type EtlConfig } from './etl.ts'
import { MAX_OWN_LETTERS, MAX_SHARED_PARTS } from './message-letters.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const CONFIG: EtlConfig = { defaultTenant: 'default', retentionDays: 30, lookupFeatures: () => undefined }

const bytes = (payload: unknown) => Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))
const etl = () => createEtl(CONFIG)

function message(...logRecords: unknown[]) {
  return {
    resourceLogs: [
      { resource: { attributes: [{ key: 'service.name', value: { stringValue: 'checkout' } }] }, scopeLogs: [{ logRecords }] },
    ],
  }
}

const flat = (result: ReturnType<ReturnType<typeof etl>['process']>) =>
  result.records.map(({ value }) => JSON.parse(Buffer.from(value).toString()))

describe('ETL', () => {
  it('publishes one flat record per log record, keyed by tenant and service', () => {
    const result = etl().process(
      bytes(message({ timeUnixNano: `${NOW_MS}000000`, body: { stringValue: 'one' } }, { body: { stringValue: 'two' } })),
      NOW_MS,
    )
    expect(result.received).to.equal(2)
    expect(result.deadLetters).to.deep.equal([])
    expect(result.records.map(({ key }) => key)).to.deep.equal(['default/checkout', 'default/checkout'])
    expect(flat(result).map(record => record.message)).to.deep.equal(['one', 'two'])
    for (const { value, headers } of result.records) expect(parseLayout(headers?.[LAYOUT_HEADER], value)).to.not.equal(undefined)
  })

  it("a record whose resource names no tenant gets the collector's, which the message's key names; else the default", () => {
    const records = (tenant?: string, record: object = {}) => {
      const attributes = tenant === undefined ? [] : [{ key: 'tenant_id', value: { stringValue: tenant } }]
      return bytes({ resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords: [record] }] }] })
    }
    const cases = [
      { named: undefined, key: 'acme/checkout', expected: 'acme' },
      { named: 'Not valid', key: 'acme/checkout', expected: 'acme' },
      { named: 'other', key: 'acme/checkout', expected: 'other' },
      { named: undefined, key: '?/checkout', expected: 'default' },
      { named: undefined, key: 'beta/checkout', expected: 'beta' },
    ]
    const one = etl()
    // By bytes, and one that goes the plain way.
    for (const record of [{ timeUnixNano: `${NOW_MS}000000` }, { timeUnixNano: `${NOW_MS}000000`, body: { kvlistValue: { values: [] } } }])
      for (const { named, key, expected } of cases) {
        const result = one.process(records(named, record), NOW_MS, key)
        expect([result.records[0]!.key, flat(result)[0].tenant_id]).to.deep.equal([`${expected}/unknown_service`, expected])
      }
  })

  it('a record without a time gets that of its arrival, so that a second pass gives the same', () => {
    const input = bytes(message({ body: { stringValue: 'x' } }))
    expect(flat(etl().process(input, NOW_MS))[0]['@timestamp']).to.equal('2026-11-21T12:00:00.000Z')
    expect(etl().process(input, NOW_MS)).to.deep.equal(etl().process(input, NOW_MS))
  })

  it('keeps the count: every record comes out, or goes to the dead-letter queue', () => {
    const record = fc.oneof(fc.constant({ body: { stringValue: 'ok' } }), fc.constant({ timeUnixNano: 'now' }), fc.jsonValue())
    const shape = fc.record({
      resource: fc.constantFrom(undefined, {}, 5),
      scopeLogs: fc.array(fc.record({ scope: fc.constantFrom(undefined, {}, 'x'), logRecords: fc.array(record, { maxLength: 4 }) }), {
        maxLength: 3,
      }),
    })
    const countIn = (payload: { resourceLogs: readonly { scopeLogs: readonly { logRecords: readonly unknown[] }[] }[] }) =>
      payload.resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords)).length
    fc.assert(
      fc.property(fc.array(shape, { maxLength: 3 }), resourceLogs => {
        const { records, deadLetters, received } = etl().process(bytes({ resourceLogs }), NOW_MS)
        const dead = deadLetters
          .map(({ value }) => countIn(JSON.parse(Buffer.from(value).toString())))
          .reduce((sum, count) => sum + count, 0)
        expect(received).to.equal(countIn({ resourceLogs }))
        expect(records.length + dead).to.equal(received)
      }),
      { seed: 12 },
    )
  })

  describe('a record that cannot be parsed goes to dead-letter-queue', () => {
    const cases = [
      { name: 'no JSON', input: '{"resourceLogs":[', reason: /^message: not JSON/ },
      { name: 'no object', input: '[]', reason: /expected a JSON object/ },
      { name: 'an object of another kind', input: { message: 'hello' }, reason: /^resourceLogs: expected this list, saw "message"$/ },
      { name: 'resourceLogs is no list', input: { resourceLogs: {} }, reason: /resourceLogs: expected an array/ },
      { name: 'a resource log that is none', input: { resourceLogs: [5] }, reason: /^resourceLogs\[0\]: expected an object/ },
      {
        name: 'resource attributes that are no list',
        input: { resourceLogs: [{ resource: { attributes: 5 } }] },
        reason: /resource\.attributes: expected an array/,
      },
      { name: 'scopeLogs is no list', input: { resourceLogs: [{ scopeLogs: 'x' }] }, reason: /scopeLogs: expected an array/ },
      {
        name: 'logRecords is no list',
        input: { resourceLogs: [{ scopeLogs: [{ logRecords: 7 }] }] },
        reason: /scopeLogs\[0\]\.logRecords: expected an array/,
      },
      { name: 'a time that is none', input: message({ timeUnixNano: 'now' }), reason: /timeUnixNano.*"now"/ },
      { name: 'a record that is none', input: message(null), reason: /log record: expected an object, saw null/ },
      { name: 'a body that is no AnyValue', input: message({ body: 'x' }), reason: /^body: expected an AnyValue/ },
    ]
    for (const { name, input, reason } of cases)
      it(name, () => {
        const { records, deadLetters } = etl().process(bytes(input), NOW_MS)
        expect(records).to.deep.equal([])
        expect(deadLetters.length).to.equal(1)
        expect(deadLetters[0]!.reason).to.match(reason)
      })

    it('alone: the others of its message go on', () => {
      const { records, deadLetters } = etl().process(
        bytes(message({ body: { stringValue: 'good' } }, { body: 7 }, { body: { stringValue: 'fine' } })),
        NOW_MS,
      )
      expect(records.length).to.equal(2)
      expect(JSON.parse(Buffer.from(deadLetters[0]!.value).toString())).to.deep.equal(message({ body: 7 }))
    })

    it('a whole message as the bytes it was', () => {
      const original = bytes('{"resourceLogs":[')
      expect(etl().process(original, NOW_MS).deadLetters[0]!.value).to.equal(original)
    })
  })

  it('a message without records is nothing', () => {
    for (const input of [{}, { resourceLogs: [] }, { resourceLogs: [{}] }, { resourceLogs: [{ scopeLogs: [{}] }] }])
      expect(etl().process(bytes(input), NOW_MS)).to.deep.equal({ records: [], deadLetters: [], received: 0 })
  })

  it('100,000 attributes on one record come through', () => {
    const attributes = Array.from({ length: 100_000 }, (_, i) => ({ key: `k${i}`, value: { boolValue: true } }))
    const { records, deadLetters } = etl().process(bytes(message({ attributes })), NOW_MS)
    const count = records.length === 1 ? Object.keys(flat({ records, deadLetters, received: 1 })[0].attributes).length : 0
    expect([records.length + deadLetters.length, count === 0 || count > 99_999]).to.deep.equal([1, true])
  })

  describe('messages that would take far more memory than their bytes are not parsed', () => {
    const MIB = 1024 * 1024
    const around = (...records: readonly Buffer[]) => {
      const [open, close] = JSON.stringify(message('?')).split('"?"')
      return Buffer.concat([Buffer.from(open!), ...records, Buffer.from(close!)])
    }
    const one = Buffer.from('{"body":{"stringValue":"one"}},')

    it('levels without end', () => {
      const value = Buffer.alloc(MIB, '[')
      expect(etl().process(value, NOW_MS).deadLetters).to.deep.equal([{ value, reason: 'message: more than 1000 levels' }])
    })

    it('a record of more than 500,000 values; the others are read', () => {
      const attributes = Buffer.concat([Buffer.from('{"attributes":['), Buffer.alloc(3 * 500_001, '{},'), Buffer.from('{}]}')])
      const result = etl().process(around(one, attributes), NOW_MS)
      expect(flat(result).map(record => record.message)).to.deep.equal(['one'])
      expect(result.deadLetters.map(({ reason }) => reason)).to.deep.equal(['log record: more than 500000 values'])
    })

    it('more unreadable records than a letter names: the letter is the message', () => {
      const value = around(one, Buffer.alloc(2 * MAX_SHARED_PARTS + 2 * MAX_OWN_LETTERS, '0,'), Buffer.from('0'))
      const result = etl().process(value, NOW_MS)
      expect(flat(result).map(record => record.message)).to.deep.equal(['one'])
      expect(result.deadLetters).to.have.length(MAX_OWN_LETTERS + 1)
      const { value: shared, reason } = result.deadLetters.at(-1)!
      expect(Buffer.compare(shared, value)).to.equal(0)
      expect(reason).to.contain(`(the first of ${MAX_SHARED_PARTS + 1} in this letter)`)
      expect(result.received).to.equal(MAX_OWN_LETTERS + MAX_SHARED_PARTS + 2)
    })
  })

  it('NUL bytes and lone surrogates come through', () => {
    const [record] = flat(
      etl().process(bytes('{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"a\\u0000b\\ud800c"}}]}]}]}'), NOW_MS),
    )
    expect(record.message).to.equal('a\u0000b\ud800c')
  })
})
