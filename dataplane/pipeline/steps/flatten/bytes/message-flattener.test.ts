import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { scoreRecord } from '../../../../domain/anomalies/scoring.ts'
import type { FlattenConfig } from '../../../../domain/records/flat-record.ts'
import { Repetition } from '../../../../domain/records/shared-attributes.ts'
import { transcodeProtobuf } from '../../../../otlp/protobuf/transcode-protobuf.ts'
import { encodeMessage } from '../../../../otlp/testing/logs-proto.ts'
import { rounds } from '../../../../testing/rounds.ts'
import type { EncodedRecord } from '../../../flat-record-layout.ts'
import { findScoredFields, knownScoredFields } from '../../../scored-fields.ts'
import { readParts } from '../message-parts.ts'
import { createPlainFlattener, type KeyedRecord } from '../plain-flattener.ts'
import { MessageFlattener, type ParsedOrigin, type RecordSource } from './message-flattener.ts'
import { NOW, NOW_MS, ordinaryPayload, payload, spell, spelling, telling } from './testing/generated-payloads.ts'

const originOf = () => ({ day: { receivedAtMs: NOW_MS, retentionDays: 30 }, defaultTenant: 'default', repetition: new Repetition() })
const FEATURES = { ml_error_rate_1h: 0.25, ml_p99_latency_1h: 120.5, ml_request_rate_1h: 1e-9, ml_anomaly_history_count: 2.5 }
const CONFIG: Pick<FlattenConfig, 'lookupFeatures'> = {
  lookupFeatures: (_tenant, service) => (service === 'down' ? 'unreachable' : service === 'acme' ? FEATURES : undefined),
}

const plain = createPlainFlattener(CONFIG)
const quick = new MessageFlattener(CONFIG)

function readable({ key, bytes, start, end, layout }: KeyedRecord) {
  return { key, layout: { ...layout }, value: bytes.toString('utf8', start, end) }
}

function plainly(record: unknown) {
  const outcome = plain.flatten(record)
  return outcome.kind === 'emit' ? readable(outcome.value) : outcome
}

/** The records of a message by the rules one by one. */
function expected(message: Uint8Array): unknown[] {
  const outcomes: unknown[] = []
  plain.start(originOf())
  for (const part of readParts(Buffer.from(message))) {
    if (part.kind === 'unreadable') outcomes.push(part.reason)
    else {
      plain.setSurroundings(part.around.resourceValue, part.around.scopeValue)
      outcomes.push(plainly(part.value))
    }
  }
  return outcomes
}

/** The fields that the writer knew are those that are found in the bytes; a message that it leaves out counts for no score. */
function expectKnownFields({ bytes, start, layout, known }: EncodedRecord): void {
  const { document_id: _id, ...found } = findScoredFields(bytes, start, start + layout.canonicalEnd)!
  const fields = knownScoredFields(bytes, start, known!)!
  expect(fields).to.deep.equal(known!.isTelling ? found : { ...found, message: '' })
  expect(scoreRecord({ ...fields, level: 'FATAL' })).to.equal(scoreRecord({ ...found, level: 'FATAL' }))
}

/** The records of a message by the message flattener, and how many of them it made by itself. */
function flatten(message: Uint8Array) {
  const outcomes: unknown[] = []
  let byBytes = 0
  plain.start(originOf())
  const isDone = quick
    .flatten(message, originOf(), {
      isFull: () => false,
      flat(key, record) {
        byBytes++
        outcomes.push(readable({ key, ...record }))
        expectKnownFields(record)
      },
      unusual(record, { resource, scope }) {
        plain.setSurroundings(resource, scope)
        outcomes.push(plainly(record))
      },
    })
    .next().value
  return { isDone, byBytes, outcomes }
}

/** The records of a message, and where each and its surroundings stand in it. */
function sourcesOf(flattener: MessageFlattener, message: Uint8Array, defaultTenant = 'default') {
  const found: { readonly key: string; readonly source: unknown; readonly value?: string }[] = []
  const seen = (source: RecordSource) => ({ ...source, around: { ...source.around } })
  const walk = flattener.flatten(
    message,
    { ...originOf(), defaultTenant },
    {
      isFull: () => false,
      flat: (key, record, source) => void found.push({ key, source: seen(source), value: readable({ key, ...record }).value }),
      unusual: (_record, origin, source) => void found.push({ key: 'by the rules', source: seen(source), value: JSON.stringify(origin) }),
    },
  )
  return { isDone: walk.next().value, found }
}

describe('the message flattener', () => {
  it('does what the plain one does, byte for byte', () => {
    fc.assert(
      fc.property(payload, spelling, (someMessage, how) => {
        const bytes = spell(someMessage, how)
        const flattened = flatten(bytes)
        if (flattened.isDone) expect(flattened.outcomes).to.deep.equal(expected(bytes))
      }),
      { seed: 11, numRuns: rounds(1_500) },
    )
  })

  it('does it alone for most of ordinary messages', () => {
    let byBytes = 0
    let all = 0
    fc.assert(
      fc.property(ordinaryPayload, spelling, (someMessage, how) => {
        const bytes = spell(someMessage, { ...how, asciiOnly: false })
        const flattened = flatten(bytes)
        expect(flattened.isDone).to.equal(true)
        expect(flattened.outcomes).to.deep.equal(expected(bytes))
        byBytes += flattened.byBytes
        all += flattened.outcomes.length
      }),
      { seed: 12, numRuns: rounds(1_000) },
    )
    expect(byBytes / all).to.be.above(0.9)
  })

  it('does the same with resources and scopes that it has seen, wherever they stand', () => {
    fc.assert(
      fc.property(payload, ({ resourceLogs }) => {
        const bytes = spell({ resourceLogs: [...resourceLogs, ...resourceLogs] }, { indent: '', asciiOnly: false })
        const flattener = new MessageFlattener(CONFIG)
        const [first, again] = [sourcesOf(flattener, bytes), sourcesOf(flattener, bytes)]
        expect(again).to.deep.equal(first)
      }),
      { seed: 13, numRuns: rounds(200) },
    )
  })

  it('takes records of one resource for those of the tenant that each message says', () => {
    const flattener = new MessageFlattener(CONFIG)
    const bytes = spell(messageOf(ORDINARY), { indent: '', asciiOnly: false })
    const tenantsOf = (defaultTenant: string) => sourcesOf(flattener, bytes, defaultTenant).found.map(({ key }) => key)
    for (const tenant of ['acme', 'globex', 'acme', 'globex']) expect(tenantsOf(tenant)).to.deep.equal([`${tenant}/checkout`])
  })

  it('gives records that it leaves to the rules their resource and scope, the same ones for all in turn', () => {
    const unusual = { ...ORDINARY, attributes: [{ key: 'a', value: { arrayValue: { values: [] } } }] }
    const origins: ParsedOrigin[] = []
    const target = { isFull: () => false, flat: () => undefined, unusual: (_: unknown, origin: ParsedOrigin) => void origins.push(origin) }
    for (const service of ['café', 'café', 'cart']) {
      const bytes = spell(messageFrom({ service, scope: 'ö' }, unusual, unusual), { indent: '', asciiOnly: false })
      expect(quick.flatten(bytes, originOf(), target).next().value).to.equal(true)
    }
    expect(origins.map(({ resource }) => resource!.attributes![0]!.value!.stringValue)).to.deep.equal([
      ...['café', 'café', 'café', 'café', 'cart', 'cart'],
    ])
    expect(origins[0]!.scope!.name).to.equal('ö')
    expect(origins[1]!.resource).to.equal(origins[0]!.resource)
    expect(origins[5]!.scope).to.equal(origins[4]!.scope)
  })

  it('never takes for good what is no JSON, or not OTLP', () => {
    const whole = spell(
      messageOf({ timeUnixNano: NOW, body: { stringValue: 'é' }, attributes: [{ key: 'a', value: { doubleValue: 1.5 } }] }),
      {
        indent: '',
        asciiOnly: false,
      },
    )
    expect(flatten(whole)).to.include({ isDone: true, byBytes: 1 })
    for (let at = 0; at < whole.length; at++)
      for (const byte of [0, 0x20, 0x22, 0x2c, 0x30, 0x31, 0x5c, 0x65, 0x7b, 0x7d, 0xff]) {
        const broken = Buffer.from(whole)
        broken[at] = byte
        const flattened = flatten(broken)
        if (flattened.isDone) expect(flattened.outcomes, broken.toString()).to.deep.equal(expected(broken))
      }
    for (let end = 0; end < whole.length; end++) expect(flatten(whole.subarray(0, end)).isDone).to.equal(false)
  })

  const messageOf = (...logRecords: unknown[]) => messageFrom({ service: 'checkout', scope: 's' }, ...logRecords)

  function messageFrom({ service, scope }: { readonly service: string; readonly scope: string }, ...logRecords: unknown[]) {
    const attributes = [{ key: 'service.name', value: { stringValue: service } }]
    return { resourceLogs: [{ resource: { attributes }, scopeLogs: [{ scope: { name: scope }, logRecords }] }] }
  }

  const ORDINARY = {
    timeUnixNano: NOW,
    observedTimeUnixNano: NOW,
    severityNumber: 9,
    severityText: 'INFO',
    body: { stringValue: 'user "bob" took 5 ms\n\u001b[0m é' },
    attributes: [
      { key: 'http.route', value: { stringValue: '/cart' } },
      { key: 'status', value: { intValue: '200' } },
      { key: 'ms', value: { doubleValue: 12.5 } },
      { key: 'whole', value: { doubleValue: 12 } },
      { key: 'ok', value: { boolValue: true } },
      { key: 'name', value: { stringValue: 'größe "L"' } },
    ],
    droppedAttributesCount: 0,
    flags: 1,
    traceId: '70ad787d48fd22a2601c24c7ac76f948',
    spanId: 'a75d0dff13b423aa',
    eventName: '',
  }
  for (const schemaUrls of [
    { ofResource: 'https://one' },
    { ofScope: 'https://two' },
    { ofResource: 'https://one', ofScope: 'https://two' },
  ])
    it(`does it alone for protobuf with a schema URL ${Object.keys(schemaUrls).join(' and ')}, as the collector writes it`, () => {
      const { resource, scopeLogs } = messageOf({ timeUnixNano: NOW, body: { stringValue: 'x' } }).resourceLogs[0]!
      const { ofResource, ofScope } = { ofResource: '', ofScope: '', ...schemaUrls }
      const scopes = scopeLogs.map(each => ({ ...each, schemaUrl: ofScope }))
      const one = { resource, scopeLogs: [...scopes, ...scopes], schemaUrl: ofResource }
      const request = encodeMessage('ExportLogsServiceRequest', { resourceLogs: [one, one] })
      const { text: bytes } = transcodeProtobuf(request, { observedTimeUnixNano: NOW })
      const flattened = flatten(bytes)
      expect(flattened).to.include({ isDone: true, byBytes: 4 })
      expect(flattened.outcomes).to.deep.equal(expected(bytes))
    })

  const alone: readonly { readonly name: string; readonly change: object }[] = [
    { name: 'as most are', change: {} },
    { name: 'without attributes', change: { attributes: undefined } },
    { name: 'without an observed time', change: { observedTimeUnixNano: undefined } },
    { name: 'with the observed time alone', change: { timeUnixNano: '0' } },
    { name: 'beyond retention', change: { timeUnixNano: '1000000000000000000', observedTimeUnixNano: '1000000000000000000' } },
    { name: 'with an empty message', change: { body: { stringValue: '' } } },
    { name: 'without a message', change: { body: undefined } },
    { name: 'with integers as numbers', change: { attributes: [{ key: 'n', value: { intValue: 200 } }] } },
    { name: 'with keys that are folded alone', change: { attributes: [{ key: 'level.x', value: { intValue: 200 } }], severityText: '' } },
    { name: 'with a message longer than a pattern', change: { body: { stringValue: `${'é'.repeat(1_023)}😀 17` } } },
  ]
  for (const { name, change } of alone)
    for (const indent of ['', ' '])
      it(`does it alone for a record ${name}${indent && ', with white space'}`, () => {
        const bytes = spell(messageOf({ ...ORDINARY, ...change }), { indent, asciiOnly: false })
        const flattened = flatten(bytes)
        expect(flattened).to.include({ isDone: true, byBytes: 1 })
        expect(flattened.outcomes).to.deep.equal(expected(bytes))
      })

  const EXCEPTION = [
    { key: 'exception.type', value: { stringValue: 'TypeError' } },
    { key: 'exception.message', value: { stringValue: 'x is "undefined"' } },
  ]
  for (const { name, body, message, byBytes } of [
    { name: 'without a message', body: undefined, message: 'TypeError: x is "undefined"', byBytes: 0 },
    { name: 'with an empty message', body: { stringValue: '' }, message: 'TypeError: x is "undefined"', byBytes: 0 },
    { name: 'with a message', body: { stringValue: 'payment failed' }, message: 'payment failed', byBytes: 2 },
  ])
    it(`a record ${name} that has an exception says: ${message}`, () => {
      // The second one is of a form that is known.
      const record = { ...ORDINARY, body, attributes: [...ORDINARY.attributes, ...EXCEPTION] }
      const bytes = spell(messageOf(record, record), { indent: '', asciiOnly: false })
      const flattened = flatten(bytes)
      expect(flattened).to.include({ isDone: true, byBytes })
      expect(flattened.outcomes).to.deep.equal(expected(bytes))
      for (const outcome of flattened.outcomes) expect(JSON.parse((outcome as { value: string }).value)).to.include({ message })
    })

  const raw: readonly { readonly name: string; readonly json: string }[] = [
    { name: 'a field twice', json: `{"timeUnixNano":"${NOW}","severityNumber":9,"severityNumber":17}` },
    { name: 'attributes twice', json: `{"timeUnixNano":"${NOW}","attributes":[{"key":"a","value":{"intValue":"1"}}],"attributes":[]}` },
    { name: 'a key twice', json: attribute('"key":"a","value":{"intValue":"1"}},{"key":"a","value":{"intValue":"2"}') },
    { name: 'a value before its key', json: attribute('"value":{"intValue":"1"},"key":"a"') },
    { name: 'an attribute without a value', json: attribute('"key":"a"') },
    { name: 'two kinds of value', json: attribute('"key":"a","value":{"intValue":"1","stringValue":"x"}') },
    { name: 'an unknown field', json: `{"timeUnixNano":"${NOW}","extra":{"a":[1]}}` },
    { name: 'an escaped key', json: attribute('"key":"\\u0061","value":{"intValue":"1"}') },
    { name: 'an escaped slash', json: attribute('"key":"a","value":{"stringValue":"\\/"}') },
    { name: 'an escape in capitals', json: attribute('"key":"a","value":{"stringValue":"\\u001B"}') },
    { name: 'an escape of a letter', json: attribute('"key":"a","value":{"stringValue":"\\u0041"}') },
    { name: 'an escape that has a letter', json: attribute('"key":"a","value":{"stringValue":"\\u000a"}') },
    { name: 'a control character escaped', json: attribute('"key":"a","value":{"stringValue":"\\u000b"}') },
    { name: 'a lone surrogate', json: `{"timeUnixNano":"${NOW}","body":{"stringValue":"a\\ud800"}}` },
    { name: 'a number with an exponent', json: attribute('"key":"a","value":{"doubleValue":1E3}') },
    { name: 'a number with zeros at its end', json: attribute('"key":"a","value":{"doubleValue":1.50}') },
    { name: 'a number of many digits', json: attribute('"key":"a","value":{"doubleValue":0.12345678901234567890}') },
    { name: 'a number beyond doubles', json: attribute('"key":"a","value":{"doubleValue":1e999}') },
    { name: 'a small number', json: attribute('"key":"a","value":{"doubleValue":0.00000012}') },
    { name: 'a negative zero', json: attribute('"key":"a","value":{"doubleValue":-0.0}') },
    { name: 'a severity number with a fraction', json: `{"timeUnixNano":"${NOW}","severityNumber":9.0}` },
    { name: 'a time as a number', json: `{"timeUnixNano":1763726400000,"body":{"stringValue":"x"}}` },
    { name: 'a time with leading zeros', json: `{"timeUnixNano":"00${NOW}"}` },
    { name: 'no time at all', json: '{"body":{"stringValue":"x"}}' },
    { name: 'an escaped trace id', json: `{"timeUnixNano":"${NOW}","traceId":"\\u00370ad787d48fd22a2601c24c7ac76f948"}` },
    { name: 'nothing', json: '{}' },
    { name: 'null in place of a record', json: 'null' },
  ]
  function attribute(members: string) {
    return `{"timeUnixNano":"${NOW}","attributes":[{${members}}]}`
  }
  for (const { name, json } of raw)
    it(`does what the plain one does with ${name}`, () => {
      for (const records of [json, `${json},${JSON.stringify(ORDINARY)}`]) {
        const bytes = Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${records}]}]}]}`)
        const flattened = flatten(bytes)
        if (flattened.isDone) expect(flattened.outcomes).to.deep.equal(expected(bytes))
        else expect(json).to.equal('null')
      }
    })

  it('finds the day of each record by itself where retention begins, or the day ahead ends, within a second', () => {
    const DAY_MS = 86_400_000
    for (const edgeMs of [NOW_MS - 30 * DAY_MS, NOW_MS + DAY_MS])
      for (const secondOffMs of [0, -1, -500, -999, -1_000, 1_000]) {
        const times = [-1, 0, 1, -1, 0, 1, 2, 999, 1_000].map(ms => `${edgeMs + secondOffMs + ms}000001`)
        const observed = `${NOW_MS - DAY_MS}000000`
        const bytes = spell(messageOf(...times.map(timeUnixNano => ({ ...ORDINARY, timeUnixNano, observedTimeUnixNano: observed }))), {
          indent: '',
          asciiOnly: false,
        })
        const flattened = flatten(bytes)
        expect(flattened.byBytes).to.equal(times.length)
        expect(flattened.outcomes).to.deep.equal(expected(bytes))
      }
  })

  it('takes ids of lower-case digits, of upper-case ones, and of zeros as the plain one does', () => {
    const trace = '70ad787d48fd22a2601c24c7ac76f948'
    const span = 'a75d0dff13b423aa'
    const changed = (id: string) => [
      id,
      id.toUpperCase(),
      '0'.repeat(id.length),
      ...[...'gG/:@`\u007f '].flatMap(char => [char + id.slice(1), id.slice(0, -1) + char]),
    ]
    const records = changed(trace).flatMap(traceId => changed(span).map(spanId => ({ ...ORDINARY, traceId, spanId })))
    const bytes = spell(messageOf(...records), { indent: '', asciiOnly: false })
    const flattened = flatten(bytes)
    expect(flattened.isDone).to.equal(true)
    expect(flattened.outcomes).to.deep.equal(expected(bytes))
  })

  it('leaves a large record to the plain one', () => {
    const bytes = spell(messageOf({ ...ORDINARY, body: { stringValue: 'x'.repeat(20_000) } }, ORDINARY), { indent: '', asciiOnly: false })
    const flattened = flatten(bytes)
    expect(flattened).to.include({ isDone: true, byBytes: 1 })
    expect(flattened.outcomes).to.deep.equal(expected(bytes))
  })

  it('does it alone for the largest records and resources that it takes', () => {
    const attributes = Array.from({ length: 64 }, (_, i) => ({
      key: `é.${i}.${'k'.repeat(90)}`,
      value: { stringValue: '\u0001'.repeat(8) },
    }))
    const large = { ...ORDINARY, attributes, body: { stringValue: '\u0001'.repeat(250) } }
    const own = Array.from({ length: 50 }, (_, i) => ({ key: `r.${i}`, value: { stringValue: '\u0001'.repeat(35) } }))
    const named = ['service.name', 'host.name', 'cloud.region'].map(name => ({ key: name, value: { stringValue: 'ü'.repeat(300) } }))
    const bytes = spell(
      { resourceLogs: [{ resource: { attributes: [...own, ...named] }, scopeLogs: [{ logRecords: [large, ORDINARY, large] }] }] },
      { indent: '', asciiOnly: false },
    )
    const flattened = flatten(bytes)
    expect(flattened).to.include({ isDone: true, byBytes: 3 })
    expect(flattened.outcomes).to.deep.equal(expected(bytes))
  })

  it('scores messages whose telling words are beside, before or within masked parts', () => {
    fc.assert(
      fc.property(fc.array(telling, { minLength: 1, maxLength: 20 }), messages => {
        const bytes = spell(messageOf(...messages.map(stringValue => ({ ...ORDINARY, body: { stringValue } }))), {
          indent: '',
          asciiOnly: false,
        })
        expect(flatten(bytes)).to.include({ isDone: true, byBytes: messages.length })
      }),
      { seed: 3, numRuns: rounds(500) },
    )
  })

  it('does what the plain one does with records that differ in a few bytes from those before', () => {
    const form = JSON.stringify({ ...ORDINARY, traceId: '70ad787d48fd22a2601c24c7ac76f948', spanId: 'a75d0dff13b423aa', flags: 1 })
    const byte = fc.constantFrom(
      ...Array.from('0123456789-+.eE"\\:,{}[] \n\tatrufs\u0001\u007f', char => char.charCodeAt(0)),
      0xc3,
      0xa9,
      0x00,
    )
    const change = fc.record({ at: fc.nat(form.length - 1), byte, how: fc.constantFrom('put', 'insert', 'remove') })
    let byBytes = 0
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 2 }), changes => {
        const changed = changes.reduce((json, { at, byte: char, how }) => {
          const rest = how === 'insert' ? at : at + 1
          return Buffer.concat([json.subarray(0, at), Buffer.from(how === 'remove' ? [] : [char]), json.subarray(rest)])
        }, Buffer.from(form))
        const parts = ['{"resourceLogs":[{"scopeLogs":[{"logRecords":[', form, ',', changed, ',', form, ']}]}]}']
        const bytes = Buffer.concat(parts.map(part => Buffer.from(part)))
        const flattened = flatten(bytes)
        byBytes += flattened.byBytes
        if (flattened.isDone) expect(flattened.outcomes).to.deep.equal(expected(bytes))
      }),
      { seed: 21, numRuns: rounds(2_000) },
    )
    expect(byBytes).to.be.above(rounds(2_000))
  })

  it('reads integers as numbers and as texts from senders that come by turns', () => {
    const records = Array.from({ length: 600 }, (_, i) => ({
      ...ORDINARY,
      attributes: [{ key: 'n', value: { intValue: i % 3 === 0 ? String(i) : (i as unknown as string) } }],
    }))
    const bytes = spell(messageOf(...records), { indent: '', asciiOnly: false })
    const flattened = flatten(bytes)
    expect(flattened).to.include({ isDone: true, byBytes: 600 })
    expect(flattened.outcomes).to.deep.equal(expected(bytes))
  })

  it('keeps apart thousands of kinds of records', () => {
    const kinds = Array.from({ length: 3_000 }, (_, i) => ({
      ...ORDINARY,
      severityText: `S${i % 40}`,
      attributes: [1, 7, 31].map(step => ({ key: `k${(i * step) % 101}.${step}`, value: { intValue: String(i) } })),
    }))
    for (let from = 0; from < kinds.length; from += 500) {
      const bytes = spell(messageOf(...kinds.slice(from, from + 500)), { indent: '', asciiOnly: false })
      const flattened = flatten(bytes)
      expect(flattened).to.include({ isDone: true, byBytes: 500 })
      expect(flattened.outcomes).to.deep.equal(expected(bytes))
    }
  })
})
