import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../testing/rounds.ts'
import { acceptJson } from '../json/accept-json.ts'
import { MalformedPayload, OversizedPayload } from '../malformed.ts'
import type { AnyValue, LogRecord, LogsPayload } from '../payload.ts'
import { decodeMessage, encodeMessage } from '../testing/logs-proto.ts'
import { payloadArbitrary } from '../testing/payload-arbitrary.ts'
import { transcodeProtobuf } from './transcode-protobuf.ts'

const NOW = '1767225600000000000'
const OPTIONS = { observedTimeUnixNano: NOW }
const transcoded = (wire: Uint8Array): LogsPayload => JSON.parse(Buffer.from(transcodeProtobuf(wire, OPTIONS).text).toString())

/** Ids stand as base64 in the library's JSON, as hex in OTLP's. */
const withIds = (payload: object, from: BufferEncoding, to: BufferEncoding): object =>
  JSON.parse(JSON.stringify(payload), (key, value) =>
    key === 'traceId' || key === 'spanId' ? Buffer.from(String(value), from).toString(to) : value,
  )
const encode = (payload: LogsPayload) => encodeMessage('ExportLogsServiceRequest', withIds(payload, 'hex', 'base64'))
const decode = (wire: Uint8Array) => withIds(decodeMessage('ExportLogsServiceRequest', wire), 'base64', 'hex')

/** Drops what differs in form alone: empty lists and messages that hold nothing. */
const compact = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(compact)
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => !(Array.isArray(each) && each.length === 0))
      .map(([key, each]) => [key, compact(each)]),
  )
}

const field = (tag: number, ...content: readonly (Uint8Array | readonly number[])[]) => {
  const bytes = Buffer.concat(content.map(each => Buffer.from(each)))
  const size = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7]
  return Buffer.concat([Buffer.from([tag, ...size]), bytes])
}
/** A request of one record with these bytes. */
const requestOf = (record: Uint8Array) => field(0x0a, field(0x12, field(0x12, record)))
const recordOf = (record: Uint8Array): LogRecord => transcoded(requestOf(record)).resourceLogs![0]!.scopeLogs![0]!.logRecords![0]!
const varint = (value: number) => {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 127) | 128)
  return Buffer.from([...bytes, rest])
}
/** As `field`, of any length. */
const longField = (tag: number, content: Uint8Array) => Buffer.concat([Buffer.from([tag]), varint(content.length), content])
const longRequestOf = (record: Uint8Array) => longField(0x0a, longField(0x12, longField(0x12, record)))
/** Varint fields of so many numbers that no message knows. */
const manyFields = (count: number) =>
  Buffer.concat(Array.from({ length: count }, (_, i) => Buffer.concat([varint((i + 1000) * 8), Buffer.from([1])])))
function depthOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
}
const TIME = Buffer.from([0x09, 1, 0, 0, 0, 0, 0, 0, 0])
const text = (value: string) => Buffer.from(value)

function problem(wire: Uint8Array): string {
  try {
    transcodeProtobuf(wire, OPTIONS)
  } catch (error) {
    if (error instanceof MalformedPayload) return error.message
    throw error
  }
  return 'accepted'
}

describe('OTLP protobuf: transcoding to OTLP JSON', () => {
  it('equals a protobuf library on generated messages', () => {
    fc.assert(
      fc.property(payloadArbitrary, payload => {
        const wire = encode(payload)
        const seen = transcoded(wire)
        expect(compact(seen)).to.deep.equal(compact(decode(wire)))
      }),
      { seed: 1, numRuns: rounds(400) },
    )
  })

  it('finds what the JSON scanner finds in the result', () => {
    fc.assert(
      fc.property(payloadArbitrary, payload => {
        const layout = transcodeProtobuf(encode(payload), OPTIONS)
        const scanned = acceptJson(layout.text, OPTIONS)
        expect({ ...layout, text: undefined, timeKeys: 0 }).to.deep.equal({ ...scanned, text: undefined, timeKeys: 0 })
      }),
      { seed: 2, numRuns: rounds(200) },
    )
  })

  const values: readonly { name: string; wire: readonly number[]; expected: AnyValue }[] = [
    { name: 'an empty value', wire: [], expected: {} },
    {
      name: 'the largest integer',
      wire: [0x18, 255, 255, 255, 255, 255, 255, 255, 255, 127],
      expected: { intValue: '9223372036854775807' },
    },
    {
      name: 'the smallest integer',
      wire: [0x18, 128, 128, 128, 128, 128, 128, 128, 128, 128, 1],
      expected: { intValue: '-9223372036854775808' },
    },
    { name: '-1', wire: [0x18, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1], expected: { intValue: '-1' } },
    { name: '-2^32', wire: [0x18, 128, 128, 128, 128, 240, 255, 255, 255, 255, 1], expected: { intValue: '-4294967296' } },
    { name: 'NaN', wire: [0x21, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f], expected: { doubleValue: 'NaN' } },
    { name: '-Infinity', wire: [0x21, 0, 0, 0, 0, 0, 0, 0xf0, 0xff], expected: { doubleValue: '-Infinity' } },
    { name: 'bytes as base64', wire: [0x3a, 4, 0, 1, 254, 255], expected: { bytesValue: 'AAH+/w==' } },
    { name: 'control characters', wire: [0x0a, 3, 0, 10, 31], expected: { stringValue: '\u0000\n\u001f' } },
    { name: 'invalid UTF-8 becomes U+FFFD', wire: [0x0a, 6, 97, 0xff, 34, 98, 99, 100], expected: { stringValue: 'a\ufffd"bcd' } },
    { name: 'an encoded surrogate becomes U+FFFD', wire: [0x0a, 3, 0xed, 0xa0, 0x80], expected: { stringValue: '\ufffd\ufffd\ufffd' } },
    { name: 'of several kinds the last counts', wire: [0x10, 1, 0x0a, 1, 97, 0x18, 7], expected: { intValue: '7' } },
    { name: 'an unknown field beside it', wire: [0x18, 7, 0x4a, 1, 0], expected: { intValue: '7' } },
    { name: 'an unknown field alone', wire: [0x4a, 1, 0], expected: {} },
  ]
  for (const { name, wire, expected } of values)
    it(`a body: ${name}`, () => expect(recordOf(Buffer.concat([TIME, field(0x2a, wire)])).body).to.deep.equal(expected))

  const records: readonly { name: string; wire: Uint8Array; expected: object }[] = [
    { name: 'no time: observedTimeUnixNano is given', wire: Buffer.alloc(0), expected: { observedTimeUnixNano: NOW } },
    {
      name: 'time zero: observedTimeUnixNano is given',
      wire: Buffer.from([0x09, 0, 0, 0, 0, 0, 0, 0, 0]),
      expected: { observedTimeUnixNano: NOW },
    },
    {
      name: 'the largest time',
      wire: Buffer.from([0x59, 255, 255, 255, 255, 255, 255, 255, 255]),
      expected: { observedTimeUnixNano: '18446744073709551615' },
    },
    {
      name: 'an id of wrong length or all zero is absent',
      wire: Buffer.concat([TIME, field(0x4a, [1, 2, 3]), field(0x52, Buffer.alloc(8))]),
      expected: { timeUnixNano: '1' },
    },
    {
      name: 'a field given twice: the last counts',
      wire: Buffer.concat(
        [TIME, field(0x1a, text('first')), [...TIME.subarray(0, 1), 2, 0, 0, 0, 0, 0, 0, 0] as never, field(0x1a, text('last'))].map(x =>
          Buffer.from(x),
        ),
      ),
      expected: { timeUnixNano: '2', severityText: 'last' },
    },
    {
      name: 'attributes that do not stand together are one list',
      wire: Buffer.concat([field(0x32, field(0x0a, text('a'))), TIME, field(0x32, field(0x12, [0x10, 1]), field(0x0a, text('b')))]),
      expected: { attributes: [{ key: 'a' }, { key: 'b', value: { boolValue: true } }], timeUnixNano: '1' },
    },
    {
      name: 'a key given twice: the last counts',
      wire: Buffer.concat([TIME, field(0x32, field(0x0a, text('a')), field(0x0a, text('b')))]),
      expected: { timeUnixNano: '1', attributes: [{ key: 'b' }] },
    },
    {
      name: 'attributes that give their value first, as the Go Collector writes them',
      wire: Buffer.concat([
        TIME,
        field(0x32, field(0x12, field(0x0a, text('v'))), field(0x0a, text('a'))),
        field(0x32, field(0x12, Buffer.from([0x10, 1])), field(0x0a, text('b'))),
      ]),
      expected: {
        timeUnixNano: '1',
        attributes: [
          { key: 'a', value: { stringValue: 'v' } },
          { key: 'b', value: { boolValue: true } },
        ],
      },
    },
    { name: 'unknown fields are ignored', wire: Buffer.concat([TIME, Buffer.from([0xa0, 0x06, 1])]), expected: { timeUnixNano: '1' } },
    {
      name: 'a negative severity number',
      wire: Buffer.concat([TIME, Buffer.from([0x10, ...Array(9).fill(255), 1])]),
      expected: { timeUnixNano: '1', severityNumber: -1 },
    },
  ]
  for (const { name, wire, expected } of records) it(`a record: ${name}`, () => expect(recordOf(wire)).to.deep.equal(expected))

  it('writes the key of an attribute first, whatever came first', () => {
    const attribute = field(0x32, field(0x12, field(0x0a, text('v'))), field(0x0a, text('a')))
    const request = field(0x0a, field(0x12, field(0x12, Buffer.concat([TIME, attribute]))))
    expect(Buffer.from(transcodeProtobuf(request, OPTIONS).text).toString()).to.include('{"key":"a","value":{"stringValue":"v"}}')
  })

  it('finds service and tenant, the last of duplicate keys', () => {
    const attribute = (key: string, value: string) => field(0x0a, field(0x0a, text(key)), field(0x12, field(0x0a, text(value))))
    const resource = field(0x0a, attribute('tenant_id', 'a'), attribute('service.name', 'cart'), attribute('tenant_id', 'b'))
    const request = field(0x0a, resource, field(0x12, field(0x12, TIME)))
    expect(transcodeProtobuf(request, OPTIONS).resources[0]).to.include({ service: 'cart', tenantId: 'b', recordCount: 1 })
  })

  it('an empty request holds no records', () => expect(transcodeProtobuf(Buffer.alloc(0), OPTIONS).recordCount).to.equal(0))
})

describe('OTLP protobuf: work grows with the bytes of a request, however they nest', () => {
  const UNKNOWN = Buffer.from([0x78, 1])
  const repeat = (levels: number, around: (value: Buffer) => Buffer) => {
    let value: Buffer = Buffer.from([0x10, 1])
    for (let i = 1; i < levels; i++) value = around(value)
    return value
  }
  /** A list, map or entry of lengths beyond 127. */
  const block = (tag: number, ...content: readonly Uint8Array[]) => longField(tag, Buffer.concat(content))
  const shapes: Readonly<Record<string, (value: Buffer) => Buffer>> = {
    'an unknown field behind a list': value => Buffer.concat([block(0x2a, block(0x0a, value)), UNKNOWN]),
    'an unknown field before a list': value => Buffer.concat([UNKNOWN, block(0x2a, block(0x0a, value))]),
    'an unknown field behind a map': value => Buffer.concat([block(0x32, block(0x0a, block(0x12, value))), UNKNOWN]),
    'a key given twice behind its value': value =>
      block(0x32, block(0x0a, block(0x12, value), block(0x0a, text('a')), block(0x0a, text('b')))),
    'a value given twice': value => block(0x32, block(0x0a, block(0x12), block(0x12, value), block(0x0a, text('k')))),
    'a list given twice': value => Buffer.concat([block(0x2a), block(0x2a, block(0x0a, value))]),
    'all at once': value =>
      Buffer.concat([block(0x32, block(0x0a, block(0x12, value), block(0x0a, text('a')), UNKNOWN, block(0x0a, text('b')))), UNKNOWN]),
  }
  for (const [name, around] of Object.entries(shapes))
    for (const levels of [22, 40, 100])
      it(`${name}, ${levels} levels deep`, () => {
        const value = repeat(levels, around)
        const inBody = longRequestOf(Buffer.concat([TIME, block(0x2a, value), block(0x1a, text('a')), block(0x1a, text('b'))]))
        const inAttribute = longRequestOf(
          Buffer.concat([TIME, block(0x32, block(0x12, value), block(0x0a, text('x')), block(0x0a, text('y')))]),
        )
        for (const wire of [inBody, inAttribute]) {
          const startedMs = performance.now()
          expect(problem(wire)).to.equal('accepted')
          expect(performance.now() - startedMs).to.be.below(1000)
          const seen = transcoded(wire)
          expect(depthOf(seen)).to.be.above(2 * levels)
        }
        expect(problem(longRequestOf(block(0x2a, repeat(101, around))))).to.match(/at most 100 levels of nesting/)
      })

  it('beyond the limit, a thousand levels', () => {
    for (const around of Object.values(shapes)) {
      const wire = longRequestOf(block(0x2a, repeat(1000, around)))
      const startedMs = performance.now()
      expect(problem(wire)).to.match(/at most 100 levels of nesting/)
      expect(performance.now() - startedMs).to.be.below(1000)
    }
  })

  const MANY = 200_000
  const wide: Readonly<Record<string, () => Uint8Array>> = {
    'fields of many unknown numbers in a resource': () => longField(0x0a, longField(0x0a, manyFields(MANY))),
    'fields of many unknown numbers in a record': () =>
      longRequestOf(Buffer.concat([block(0x1a, text('a')), manyFields(MANY), block(0x1a, text('b'))])),
    'fields of many unknown numbers in a value': () => longRequestOf(block(0x2a, manyFields(MANY))),
    'one kind of value given many times': () => longRequestOf(block(0x2a, Buffer.alloc(2 * MANY, Buffer.from([0x10, 1])))),
    'a key given many times': () => longRequestOf(block(0x32, Buffer.alloc(3 * MANY, field(0x0a, text('k'))))),
    'attributes and other fields in turn': () => longRequestOf(Buffer.alloc(4 * MANY, Buffer.concat([field(0x32), UNKNOWN]))),
  }
  for (const [name, build] of Object.entries(wide))
    it(name, () => {
      const wire = build()
      const startedMs = performance.now()
      expect(problem(wire)).to.equal('accepted')
      expect(performance.now() - startedMs).to.be.below(1000)
    })
})

describe('OTLP protobuf: resources and scopes that come again', () => {
  const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } })
  const requestFrom = (service: string, pod: string, scope: string): LogsPayload => ({
    resourceLogs: [
      {
        resource: {
          attributes: [attribute('service.name', service), attribute('tenant_id', `of ${service}`), attribute('k8s.pod.name', pod)],
        },
        scopeLogs: [{ scope: { name: scope, version: pod }, logRecords: [{ timeUnixNano: '257', body: { stringValue: pod } }] }],
      },
    ],
  })

  it('are those of their own request, also when a request was changed meanwhile', () => {
    for (let round = 0; round < 3; round++)
      for (let i = 0; i < 400; i++) {
        const payload = requestFrom(`service-${i % 7}`, `pod-${i}`, `scope-${i % 11}`)
        const wire = encode(payload)
        const { resources, text: json } = transcodeProtobuf(wire, OPTIONS)
        expect(JSON.parse(Buffer.from(json).toString())).to.deep.equal(payload)
        expect(resources[0]).to.include({ service: `service-${i % 7}`, tenantId: `of service-${i % 7}` })
        wire.fill(0x41)
        json.fill(0x41)
      }
  })

  it('with a byte changed are other ones', () => {
    const wire = encode(requestFrom('checkout', 'pod-0123456789', 'scope'))
    const fresh = (bytes: Uint8Array) => problem(bytes) === 'accepted' && compact(transcoded(bytes))
    for (let at = 0; at < wire.length; at++) {
      expect(fresh(wire)).to.deep.equal(compact(requestFrom('checkout', 'pod-0123456789', 'scope')))
      const changed = Buffer.from(wire)
      changed[at]! ^= 1
      if (problem(changed) === 'accepted') expect(fresh(changed), `byte ${at}`).to.deep.equal(compact(decode(changed)))
    }
  })
})

describe('OTLP protobuf: refusing', () => {
  const nested = (levels: number) => {
    let value = Buffer.alloc(0)
    for (let i = 1; i < levels; i++) value = field(0x2a, field(0x0a, value))
    return requestOf(field(0x2a, value))
  }
  const groups = (levels: number) => Buffer.concat([Buffer.alloc(levels, 0x7b), Buffer.alloc(levels, 0x7c)])
  const problems: readonly { name: string; wire: Uint8Array; message: RegExp }[] = [
    { name: 'a group', wire: Buffer.from([0x0b]), message: /wire type 2 for resourceLogs/ },
    { name: 'a group without end', wire: Buffer.from([0x7b, 0x08, 1]), message: /the end of a group/ },
    { name: 'the end of a group that did not begin', wire: Buffer.from([0x7c]), message: /the start of a group before its end/ },
    { name: 'the end of another group', wire: Buffer.from([0x7b, 0x74]), message: /the end of the group that began last/ },
    { name: 'the end of a group outside of its message', wire: field(0x0a, Buffer.from([0x7b])), message: /the end of a group/ },
    { name: '101 groups within each other', wire: groups(101), message: /at most 100 groups within each other/ },
    { name: 'a million groups within each other', wire: groups(1_000_000), message: /at most 100 groups within each other/ },
    { name: 'a wire type of none', wire: Buffer.from([0x7e]), message: /a wire type from 0 to 5/ },
    { name: 'field number zero', wire: Buffer.from([0x02, 0]), message: /field number/ },
    { name: 'a known field of the wrong wire type', wire: requestOf(Buffer.from([0x08, 1])), message: /wire type 1 for timeUnixNano/ },
    { name: 'a length beyond the message', wire: Buffer.from([0x0a, 5, 1]), message: /a length within the message/ },
    { name: 'a length of 2^63', wire: Buffer.from([0x0a, ...Array(8).fill(255), 127]), message: /a length within the message/ },
    { name: 'a varint without end', wire: Buffer.from(Array(12).fill(255)), message: /at most 10 bytes/ },
    { name: '101 levels of nesting', wire: nested(101), message: /at most 100 levels of nesting/ },
    { name: 'JSON', wire: text('{"resourceLogs":[]}'), message: /expected/ },
  ]
  for (const { name, wire, message } of problems) it(name, () => expect(problem(wire)).to.match(message))

  it('100 groups within each other are passed over', () => expect(problem(groups(100))).to.equal('accepted'))

  it('groups in unknown fields are passed over in every message, and what stands beside them counts', () => {
    const group = Buffer.from([0x7b, 0x0a, 1, 0x78, 0x7b, 0x08, 5, 0x7c, 0x09, ...Array(8).fill(7), 0x15, 1, 2, 3, 4, 0x7c])
    const around = (tag: number, ...inside: readonly Uint8Array[]) => field(tag, Buffer.concat([group, ...inside, group]))
    const value = around(0x12, field(0x0a, text('v')))
    const record = around(0x12, around(0x32, field(0x0a, text('k')), value), around(0x2a, field(0x0a, text('body'))))
    const resource = around(0x0a, field(0x0a, Buffer.concat([field(0x0a, text('r')), value])))
    const wire = Buffer.concat([group, around(0x0a, resource, around(0x12, around(0x0a, field(0x0a, text('scope'))), record)), group])
    const { resourceLogs } = transcoded(wire)
    const [{ scopeLogs, ...origin }] = resourceLogs as [NonNullable<LogsPayload['resourceLogs']>[number]]
    expect(origin).to.deep.equal({ resource: { attributes: [{ key: 'r', value: { stringValue: 'v' } }] } })
    expect(scopeLogs![0]!.scope).to.deep.equal({ name: 'scope' })
    expect(scopeLogs![0]!.logRecords![0]).to.deep.include({
      attributes: [{ key: 'k', value: { stringValue: 'v' } }],
      body: { stringValue: 'body' },
    })
  })

  it('100 levels of nesting are accepted', () => expect(problem(nested(100))).to.equal('accepted'))

  it('a request cut off anywhere, or with any byte changed, never throws anything else and never yields malformed JSON', () => {
    const [payload] = fc
      .sample(payloadArbitrary, { seed: 11, numRuns: rounds(40) })
      .sort((a, b) => JSON.stringify(b).length - JSON.stringify(a).length)
    const wire = encode(payload!)
    for (let at = 0; at < wire.length; at++) {
      const changed = Buffer.from(wire)
      changed[at] = (changed[at]! + 1 + (at % 255)) & 255
      for (const each of [wire.subarray(0, at), changed])
        if (problem(each) === 'accepted') acceptJson(transcodeProtobuf(each, OPTIONS).text, OPTIONS)
    }
  })

  const emptyRecords = (count: number) => longField(0x12, Buffer.alloc(2 * count, Buffer.from([0x12, 0x00])))

  it('a small request of a very large JSON form is too large, not out of memory', () => {
    expect(() => transcodeProtobuf(longField(0x0a, emptyRecords(900_000)), { ...OPTIONS, maxTextBytes: 8 << 20 })).to.throw(
      OversizedPayload,
      /8388608 bytes in its JSON form/,
    )
  })

  it('too many records, or scopes, are refused before the first of them is read', () => {
    const malformed = field(0x12, field(0x09))
    const records = longField(0x0a, longField(0x12, Buffer.concat([malformed, Buffer.alloc(2_000_000, Buffer.from([0x12, 0x00]))])))
    expect(() => transcodeProtobuf(records, OPTIONS)).to.throw(OversizedPayload, /1000000 log records/)
    const scopes = longField(0x0a, Buffer.concat([field(0x12, malformed), Buffer.alloc(200_000, Buffer.from([0x12, 0x00]))]))
    expect(() => transcodeProtobuf(scopes, OPTIONS)).to.throw(OversizedPayload, /100000 resources and scopes/)
  })

  describe('of a part that is longer than a part may be', () => {
    const LIMIT = 10_000
    const MANY = 1_000_000
    const attributes = (tag: number) => Buffer.alloc(2 * MANY, Buffer.from([tag, 0x00]))
    /** `body: { arrayValue: { values: [{}, {}, …] } }`, or `kvlistValue`. */
    const listBody = (kind: number) => longField(0x2a, longField(kind, attributes(0x0a)))
    const small = longField(0x12, field(0x2a, field(0x0a, text('small'))))
    const around = (resource: Uint8Array, scope: Uint8Array, record: Uint8Array) =>
      longField(
        0x0a,
        Buffer.concat([
          longField(0x0a, resource),
          longField(0x12, Buffer.concat([longField(0x0a, scope), longField(0x12, record), small])),
        ]),
      )
    const none = Buffer.alloc(0)
    const cases: readonly (readonly [name: string, wire: Uint8Array, isOfRecord: boolean])[] = [
      ['the attributes of a record', around(none, none, attributes(0x32)), true],
      ['a list in a body', around(none, none, listBody(0x2a)), true],
      ['a map in a body', around(none, none, listBody(0x32)), true],
      ['a list in an attribute', around(none, none, longField(0x32, longField(0x12, longField(0x2a, attributes(0x0a))))), true],
      ['the attributes of a resource', around(attributes(0x0a), none, none), false],
      ['the attributes of a scope', around(none, attributes(0x1a), none), false],
    ]
    for (const [name, wire, isOfRecord] of cases)
      it(`the rest is left out, and what stands beside it is whole: ${name}`, () => {
        const layout = transcodeProtobuf(wire, { ...OPTIONS, maxPartBytes: LIMIT })
        expect(layout.text.length).to.be.within(LIMIT, LIMIT + 500)
        const payload: LogsPayload = JSON.parse(Buffer.from(layout.text).toString())
        const records = payload.resourceLogs![0]!.scopeLogs![0]!.logRecords!
        expect(records).to.have.length(2)
        expect(records[1]!.body).to.deep.equal({ stringValue: 'small' })
        const [start, end] = layout.recordBounds
        if (isOfRecord) expect(end! - start!, 'a record that was cut is still too long').to.be.above(LIMIT)
      })
  })

  it('arbitrary bytes never throw anything else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), bytes => {
        problem(bytes)
        problem(requestOf(bytes.subarray(0, 50)))
      }),
      { seed: 4, numRuns: rounds(1000) },
    )
  })
})
