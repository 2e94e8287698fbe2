import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../testing/rounds.ts'
import { cutFragments, joinFragments } from '../fragments.ts'
import type { RequestLayout } from '../layout.ts'
import { MalformedPayload, OversizedPayload } from '../malformed.ts'
import type { LogsPayload } from '../payload.ts'
import { payloadArbitrary } from '../testing/payload-arbitrary.ts'
import { isLogsPayload } from '../testing/payload-oracle.ts'
import { acceptJson } from './accept-json.ts'

const NOW = '1767225600000000000'
const accept = (text: string | Uint8Array): RequestLayout => acceptJson(Buffer.from(text), { observedTimeUnixNano: NOW })
const forwarded = (text: string): LogsPayload => {
  const { fragments } = cutFragments(accept(text), 1 << 20)
  return JSON.parse(Buffer.from(joinFragments(fragments)).toString())
}
const record = (fields: string) => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1",${fields}}]}]}]}`
const forwardedRecord = (fields: string) => forwarded(record(fields)).resourceLogs![0]!.scopeLogs![0]!.logRecords![0]!
const resource = (attributes: string) => `{"resourceLogs":[{"resource":{"attributes":[${attributes}]},"scopeLogs":[{"logRecords":[{}]}]}]}`

function problem(text: string | Uint8Array): string {
  try {
    accept(text)
  } catch (error) {
    if (error instanceof MalformedPayload) return error.message
    throw error
  }
  return 'accepted'
}

const SAMPLE = JSON.stringify({
  resourceLogs: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'checkout é😀' } }], droppedAttributesCount: 0 },
      scopeLogs: [
        {
          scope: { name: 'n', version: '1' },
          logRecords: [
            {
              timeUnixNano: '1700000000000000001',
              severityNumber: 9,
              body: {
                kvlistValue: { values: [{ key: 'k', value: { arrayValue: { values: [{ intValue: '-5' }, { doubleValue: 1.5e3 }] } } }] },
              },
              attributes: [
                { key: 'b', value: { boolValue: true } },
                { key: 'y', value: { bytesValue: 'AAE=' } },
              ],
              flags: 1,
              traceId: '0af7651916cd43dd8448eb211c80319c',
              unknown: { a: [null, 'x\\u00e9'] },
            },
          ],
          schemaUrl: 'https://x',
        },
      ],
    },
  ],
})

describe('OTLP JSON: accepting', () => {
  it('finds records, service and tenant', () => {
    const { resources, recordCount } = accept(
      resource('{"key":"service.name","value":{"stringValue":"cart"}},{"value":{"stringValue":"acme"},"key":"tenant_id"}'),
    )
    expect(recordCount).to.equal(1)
    expect(resources[0]).to.include({ recordCount: 1, service: 'cart', tenantId: 'acme' })
  })

  const identities: readonly { name: string; attributes: string; tenantId: string | undefined }[] = [
    {
      name: 'duplicate keys: the last wins',
      attributes: '{"key":"tenant_id","value":{"stringValue":"a"}},{"key":"tenant_id","value":{"stringValue":"b"}}',
      tenantId: 'b',
    },
    { name: 'a number is no tenant', attributes: '{"key":"tenant_id","value":{"intValue":"1"}}', tenantId: undefined },
    {
      name: 'a key inside a value is no key of the resource',
      attributes: '{"key":"x","value":{"kvlistValue":{"values":[{"key":"tenant_id","value":{"stringValue":"evil"}}]}}}',
      tenantId: undefined,
    },
    { name: 'escaped spellings count', attributes: '{"\\u006bey":"tenant\\u005fid","value":{"stringValue":"\\u0061"}}', tenantId: 'a' },
    { name: 'snake_case names count', attributes: '{"key":"tenant_id","value":{"string_value":"a"}}', tenantId: 'a' },
  ]
  for (const { name, attributes, tenantId } of identities)
    it(`tenant_id: ${name}`, () => expect(accept(resource(attributes)).resources[0]!.tenantId).to.equal(tenantId))

  it('the bytes of a canonical request are forwarded unchanged', () => {
    expect(JSON.stringify(forwarded(SAMPLE))).to.equal(SAMPLE)
  })

  const canonical: readonly { name: string; fields: string; expected: object }[] = [
    { name: 'snake_case names become camelCase', fields: '"severity_text":"x"', expected: { severityText: 'x' } },
    { name: 'null is the default', fields: '"body":null', expected: { _: null } },
    {
      name: 'a null kind of value is not set',
      fields: '"body":{"stringValue":null,"intValue":"1"}',
      expected: { body: { _: null, intValue: '1' } },
    },
    {
      name: '64-bit integers as numbers lose no precision',
      fields: '"observedTimeUnixNano":1700000000123456789,"body":{"intValue":-9223372036854775808}',
      expected: { observedTimeUnixNano: '1700000000123456789', body: { intValue: '-9223372036854775808' } },
    },
    { name: 'small integers stay numbers', fields: '"body":{"intValue":-7}', expected: { body: { intValue: -7 } } },
    {
      name: 'an integer in exponent form',
      fields: '"body":{"intValue":1.5e3},"flags":1e0',
      expected: { body: { intValue: '1500' }, flags: 1 },
    },
    { name: 'an escaped integer', fields: '"body":{"intValue":"\\u0035"}', expected: { body: { intValue: '5' } } },
    { name: 'NaN and Infinity', fields: '"body":{"doubleValue":"-Infinity"}', expected: { body: { doubleValue: '-Infinity' } } },
    { name: 'an escaped NUL is kept', fields: '"body":{"stringValue":"a\\u0000b"}', expected: { body: { stringValue: 'a\u0000b' } } },
    {
      name: 'a lone surrogate becomes U+FFFD',
      fields: '"body":{"stringValue":"a\\ud800b"}',
      expected: { body: { stringValue: 'a\ufffdb' } },
    },
    { name: 'two high surrogates', fields: '"severityText":"\\ud83d\\ud83d\\ude00"', expected: { severityText: '\ufffd😀' } },
    {
      name: 'a field named __proto__ is an unknown field',
      fields: '"unknown":{"__proto__":1}',
      expected: { unknown: JSON.parse('{"__proto__":1}') },
    },
    { name: 'any severity number of 32 bits', fields: '"severityNumber":99', expected: { severityNumber: 99 } },
  ]
  for (const { name, fields, expected } of canonical)
    it(name, () => expect(forwardedRecord(fields)).to.deep.equal({ timeUnixNano: '1', ...expected }))

  it('a record without timeUnixNano and observedTimeUnixNano gets observedTimeUnixNano', () => {
    const records = [
      '{}',
      '{ "body":{} }',
      '{"timeUnixNano":"0"}',
      '{"timeUnixNano":"-6795364578871345152"}',
      '{"timeUnixNano":-1,"observedTimeUnixNano":"-2"}',
      '{"observedTimeUnixNano":0,"timeUnixNano":null}',
      '{"observedTimeUnixNano":"5"}',
      '{"timeUnixNano":"1","timeUnixNano":"0"}',
    ]
    const payload = forwarded(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${records.join(' , ')}]}]}]}`)
    expect(payload.resourceLogs![0]!.scopeLogs![0]!.logRecords!.map(each => each.observedTimeUnixNano)).to.deep.equal([
      NOW,
      NOW,
      NOW,
      NOW,
      NOW,
      NOW,
      '5',
      NOW,
    ])
  })

  for (const text of ['{}', ' { } ', '{"resourceLogs":[]}', '{"resourceLogs":null}', '{"other":[{}]}', '{"resourceLogs":[{}]}'])
    it(`${text} holds no records`, () => expect(accept(text).recordCount).to.equal(0))

  it('100 levels of nesting are accepted, 101 are not', () => {
    const nested = (levels: number) => record(`"body":${'{"arrayValue":{"values":['.repeat(levels - 1)}{}${']}}'.repeat(levels - 1)}`)
    expect(problem(nested(100))).to.equal('accepted')
    expect(problem(nested(101))).to.match(/expected at most 100 levels of nesting/)
    expect(problem(record(`"unknown":${'['.repeat(100_000)}`))).to.match(/expected at most 100 levels of nesting/)
  })

  for (const levels of [22, 40, 100])
    it(`members that are repeated or unknown on each of ${levels} levels are read once`, () => {
      let value = '{"intValue":1}'
      for (let i = 1; i < levels; i++)
        value = `{"x":{"y":[1]},"kvlistValue":{"values":[{"value":{"intValue":1}}],"values":[{"key":"a","value":{},"value":${value},"key":"b"}]},"z":1}`
      const startedMs = performance.now()
      expect(problem(record(`"body":${value},"attributes":[{"value":${value}}]`))).to.equal('accepted')
      expect(performance.now() - startedMs).to.be.below(1000)
    })

  it('100,000 attributes on one record are scanned', () => {
    const attributes = Array.from({ length: 100_000 }, (_, i) => `{"key":"k${i}","value":{"intValue":${i}}}`).join(',')
    expect(accept(record(`"attributes":[${attributes}]`)).recordCount).to.equal(1)
  })
})

describe('OTLP JSON: refusing', () => {
  const problems: readonly { text: string | Uint8Array; message: string }[] = [
    { text: '', message: 'request body: expected an object, saw the end of the input (at byte 0)' },
    { text: '[]', message: 'request body: expected an object, saw a list (at byte 0)' },
    { text: '\ufeff{}', message: 'request body: expected an object, saw a byte order mark (at byte 0)' },
    {
      text: `{"unknown":${'['.repeat(200)}`,
      message: `unknown${'[0]'.repeat(37)}[…0]${'[0]'.repeat(26)}: expected at most 100 levels of nesting, saw a list (at byte 111)`,
    },
    { text: '{"resourceLogs":{}}', message: 'resourceLogs: expected a list, saw an object (at byte 16)' },
    { text: '{} x', message: 'request body: expected the end of the input, saw x (at byte 3)' },
    { text: record('"timeUnixNano":"abc"'), message: 'expected an unsigned 64-bit integer, saw "abc"' },
    {
      text: record('"timeUnixNano":true'),
      message: 'resourceLogs[0].scopeLogs[0].logRecords[0].timeUnixNano: expected an unsigned 64-bit integer, saw true',
    },
    { text: record('"timeUnixNano":"18446744073709551616"'), message: 'expected an unsigned 64-bit integer' },
    { text: record('"timeUnixNano":1.5'), message: 'expected an unsigned 64-bit integer, saw 1.5' },
    { text: record('"timeUnixNano":""'), message: 'expected an unsigned 64-bit integer, saw ""' },
    { text: record('"severityNumber":"INFO"'), message: 'severityNumber: expected a 32-bit integer, saw "INFO"' },
    { text: record('"body":"text"'), message: 'body: expected an object, saw "text"' },
    { text: record('"body":{"stringValue":5}'), message: 'body.stringValue: expected a string, saw 5' },
    { text: record('"body":{"boolValue":"true"}'), message: 'body.boolValue: expected true or false, saw "true"' },
    { text: record('"body":{"bytesValue":"a*"}'), message: 'body.bytesValue: expected a base64 string, saw "a*"' },
    { text: record('"body":{"doubleValue":1e999}'), message: 'body.doubleValue: expected a number' },
    { text: record('"body":{"stringValue":"a","intValue":"1"}'), message: 'expected only one kind of value beside stringValue' },
    { text: record('"attributes":[{"key":"a"},null]'), message: 'attributes[1]: expected an object, saw null' },
    { text: record('"attributes":{"a":1}'), message: 'attributes: expected a list, saw an object' },
    { text: record('"traceId":[1]'), message: 'traceId: expected a string, saw a list' },
    { text: record('"body":{"stringValue":"a\nb"}'), message: 'expected an escaped control character, saw \\u000a' },
    { text: record('"body":{"stringValue":"a\u0000b"}'), message: 'expected an escaped control character, saw \\u0000' },
    { text: record('"body":{"stringValue":"\\x"}'), message: 'expected a valid escape' },
    { text: record('"flags":01'), message: 'expected "," or "}", saw 1' },
    { text: record('"unknown":01'), message: 'expected "," or "}", saw 1' },
    { text: record('"unknown":+1'), message: 'expected a JSON value' },
    { text: record('"unknown":[1,]'), message: 'expected a JSON value, saw ]' },
    { text: record('"unknown":{"a":1,}'), message: 'expected a field name, saw }' },
    { text: '{"resourceLogs":[],"resourceLogs":[{}],"resource_logs":[]}', message: 'expected this list only once' },
    { text: '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}],"logRecords":[]}]}]}', message: 'expected this list only once' },
    { text: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), message: 'expected UTF-8' },
    { text: '\ufeff{}', message: 'expected an object' },
  ]
  for (const { text, message } of problems) it(`${String(text).slice(-60)} → ${message}`, () => expect(problem(text)).to.contain(message))

  const oversized: readonly { name: string; text: () => string; message: RegExp }[] = [
    {
      name: 'too many records',
      text: () => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${'{"timeUnixNano":1},'.repeat(1_000_000)}{}]}]}]}`,
      message: /at most 1000000 log records/,
    },
    {
      name: 'too many resources',
      text: () => `{"resourceLogs":[${'{"scopeLogs":[{"logRecords":[{"timeUnixNano":1}]}]},'.repeat(60_000)}{}]}`,
      message: /at most 100000 resources and scopes/,
    },
    { name: 'too many fields to correct', text: () => record(`${'"body":null,'.repeat(500_001)}"x":1`), message: /at most 500000 fields/ },
  ]
  for (const { name, text, message } of oversized) it(name, () => expect(() => accept(text())).to.throw(OversizedPayload, message))

  it('a request cut off anywhere', () => {
    const bytes = Buffer.from(SAMPLE)
    for (let end = 0; end < bytes.length; end++) expect(problem(bytes.subarray(0, end)), `cut at ${end}`).not.to.equal('accepted')
  })

  it('accepts exactly what JSON.parse and the schema accept, with one value replaced', () => {
    const junk = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(null, 0, 1.5, -1, 1e20, 2 ** 32, '', '5', '1.0', '-7', 'NaN', 'a=', true, [], {}, [null], [{}], { values: 3 }),
    )
    fc.assert(
      fc.property(payloadArbitrary, fc.nat(), junk, (payload, position, value) => {
        const text = replaceValue(payload, position, value)
        expect(problem(text) === 'accepted').to.equal(isLogsPayload(JSON.parse(text)))
      }),
      { seed: 1, numRuns: rounds(800) },
    )
  })

  it('accepts exactly what JSON.parse and the schema accept, with bytes changed', () => {
    const change = fc.tuple(fc.nat(), fc.constantFrom(...'{}[]",:0e-+.\\u nt\u0001', ''))
    fc.assert(
      fc.property(payloadArbitrary, fc.array(change, { minLength: 1, maxLength: 2 }), (payload, changes) => {
        let text = JSON.stringify(payload)
        for (const [at, by] of changes) text = text.slice(0, at % text.length) + by + text.slice((at % text.length) + 1)
        text = text.toWellFormed()
        const seen = problem(text)
        if (/only once|only one kind/.test(seen)) return // a member given twice, which JSON.parse hides
        expect(seen === 'accepted', seen).to.equal(isPayloadText(text))
      }),
      { seed: 2, numRuns: rounds(1200) },
    )
  })

  it('a string of any length ends where JSON.parse says, whatever stands in it', () => {
    const pieces = ['"', '\\', '\\"', '\\\\', '\\u0041', '\\x', '\u0001', '\n', '\u001f', ' ', '!', '#', '[', ']', '\u007f', 'é', '€', '😀']
    for (let length = 0; length < 14; length++)
      for (let at = 0; at <= length; at++)
        for (const piece of pieces) {
          const text = record(`"severityText":"${'x'.repeat(at)}${piece}${'y'.repeat(length - at)}"`)
          expect(problem(text) === 'accepted', text).to.equal(isPayloadText(text))
        }
  })

  it('members may come in any order, and with any space between', () => {
    const space = fc.constantFrom(undefined, 1, '\t')
    fc.assert(
      fc.property(payloadArbitrary, fc.array(fc.nat(), { minLength: 1 }), space, (payload, keys, indent) => {
        const kept = payload.resourceLogs!.filter(each => each.scopeLogs!.some(scope => scope.logRecords!.length > 0))
        const text = JSON.stringify(withMembersMoved(payload, keys), undefined, indent)
        expect(forwarded(text)).to.deep.equal(JSON.parse(JSON.stringify({ resourceLogs: kept })))
      }),
      { seed: 4, numRuns: rounds(300) },
    )
  })

  it('forwards every generated payload unchanged', () => {
    fc.assert(
      fc.property(payloadArbitrary, payload => {
        const kept = payload.resourceLogs!.filter(each => each.scopeLogs!.some(scope => scope.logRecords!.length > 0))
        expect(forwarded(JSON.stringify(payload))).to.deep.equal(JSON.parse(JSON.stringify({ resourceLogs: kept })))
      }),
      { seed: 3, numRuns: rounds(150) },
    )
  })
})

/** The same value with the members of each object turned round, by `keys` in turn. */
function withMembersMoved(value: unknown, keys: readonly number[]): unknown {
  let turn = 0
  const move = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(move)
    if (typeof each !== 'object' || each === null) return each
    const members = Object.entries(each)
    const first = members.length === 0 ? 0 : keys[turn++ % keys.length]! % members.length
    return Object.fromEntries([...members.slice(first), ...members.slice(0, first)].map(([name, inner]) => [name, move(inner)]))
  }
  return move(value)
}

function isPayloadText(text: string): boolean {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return false
  }
  return isLogsPayload(value)
}

/** The payload's text with the value at a position, counted over all values, replaced. */
function replaceValue(payload: object, position: number, value: unknown): string {
  let count = 0
  JSON.stringify(payload, (_, each) => {
    count++
    return each
  })
  let index = 0
  const text = JSON.stringify(payload, (_, each) => (index++ === position % count ? value : each))
  return text
}
