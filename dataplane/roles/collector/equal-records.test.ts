import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import { MAX_BUS_MESSAGE_BYTES } from '../../contract/topics.ts'
import { findEqualKeys } from '../../otlp/equal-keys.ts'
import { cutFragments, joinFragments } from '../../otlp/fragments.ts'
import { acceptJson } from '../../otlp/json/accept-json.ts'
import type { AnyValue, KeyValue, LogRecord, LogsPayload } from '../../otlp/payload.ts'
import { allSteps } from '../../otlp/steps.ts'
import { encodeMessage } from '../../otlp/testing/logs-proto.ts'
import { decodeFlatRecord } from '../../pipeline/flat-record-layout.ts'
import { createEtl } from '../../pipeline/steps/flatten/etl.ts'
import { createDocumentBuilder } from '../../pipeline/steps/index-documents.ts'
import { rounds } from '../../testing/rounds.ts'
import { numberEqualRecords } from './intake/record-ordinals.ts'
import { callGrpc, grpcMessage, type Harness, startHarness } from './testing/collector-harness.ts'

const TIME = '1767225600000000000'
const string = (stringValue: string): AnyValue => ({ stringValue })
const LINE: LogRecord = {
  timeUnixNano: TIME,
  severityText: 'ERROR',
  body: string('disk full'),
  attributes: [{ key: 'path', value: string('/') }],
}
const groupOf = (records: readonly LogRecord[], service = 'cart', scope = 'lib') => ({
  resource: { attributes: [{ key: 'service.name', value: string(service) }] },
  scopeLogs: [{ scope: { name: scope }, logRecords: records }],
})
const payloadOf = (records: readonly LogRecord[]): LogsPayload => ({ resourceLogs: [groupOf(records)] })
const six = <T>(value: T): T[] => Array(6).fill(value)

const ordinalOf = ({ attributes = [] }: LogRecord, key = 'record.ordinal') => attributes.find(each => each.key === key)?.value?.intValue
const recordsOf = ({ resourceLogs = [] }: LogsPayload) =>
  resourceLogs.flatMap(({ scopeLogs = [] }) => scopeLogs.flatMap(({ logRecords = [] }) => logRecords))

describe('equal records of one request are not one record', () => {
  let harness: Harness
  before(async () => {
    harness = await startHarness({ maxRequestBytes: 64 << 20, maxPendingBytes: 256 << 20 })
  })
  after(() => harness.collector.stop())

  /** The records of these requests that reach the bus, each through one of the doors. */
  async function sentOf(send: () => Promise<void>): Promise<LogRecord[]> {
    const before = harness.bus.sent.length
    await send()
    return harness
      .payloads()
      .slice(before)
      .flatMap(({ payload }) => recordsOf(payload))
  }
  const postJson = async (body: string | object) => {
    const answer = await harness.post(typeof body === 'string' ? body : JSON.stringify(body))
    expect(answer.status, answer.body.toString()).to.equal(200)
  }
  const doors: Readonly<Record<string, (payload: LogsPayload) => Promise<void>>> = {
    JSON: postJson,
    protobuf: async payload => {
      const answer = await harness.post(encodeMessage('ExportLogsServiceRequest', payload), { 'content-type': 'application/x-protobuf' })
      expect(answer.status).to.equal(200)
    },
    gRPC: async payload => {
      const message = grpcMessage(encodeMessage('ExportLogsServiceRequest', payload))
      expect((await callGrpc(harness.grpcPort, { frames: [message] })).trailers['grpc-status']).to.equal('0')
    },
  }
  for (const [name, send] of Object.entries(doors)) {
    it(`${name}: the second and later ones get the attribute record.ordinal, from 1 on, and the same ones when they are sent again`, async () => {
      for (let i = 0; i < 2; i++) {
        const records = await sentOf(() => send(payloadOf([...six(LINE), { ...LINE, body: string('another') }])))
        expect(records.map(record => ordinalOf(record))).to.deep.equal([undefined, '1', '2', '3', '4', '5', undefined])
        expect(records[1]!.attributes).to.deep.equal([...LINE.attributes!, { key: 'record.ordinal', value: { intValue: '1' } }])
        expect(records[0]!.attributes).to.deep.equal(LINE.attributes)
      }
    })

    it(`${name}: a record without attributes gets them`, async () => {
      const records = await sentOf(() => send(payloadOf(six({ timeUnixNano: TIME }))))
      expect(records.map(record => ordinalOf(record))).to.deep.equal([undefined, '1', '2', '3', '4', '5'])
    })

    it(`${name}: a record that gets its time here too`, async () => {
      const records = await sentOf(() => send(payloadOf(six({ body: string('no time') }))))
      expect(records.map(record => ordinalOf(record))).to.deep.equal([undefined, '1', '2', '3', '4', '5'])
      expect(new Set(records.map(({ observedTimeUnixNano }) => observedTimeUnixNano)).size).to.equal(1)
    })

    it(`${name}: over all messages that a request is split into`, async () => {
      const line = { ...LINE, body: string('x'.repeat(MAX_BUS_MESSAGE_BYTES / 3)) }
      const records = await sentOf(() => send(payloadOf(six(line))))
      expect(records.map(record => ordinalOf(record))).to.deep.equal([undefined, '1', '2', '3', '4', '5'])
    })
  }

  it('across groups of equal resource and scope, not across others', async () => {
    const groups = [groupOf([LINE]), groupOf([LINE], 'cart', 'other'), groupOf([LINE], 'checkout'), groupOf([LINE, LINE])]
    const records = await sentOf(() => postJson({ resourceLogs: groups }))
    expect(records.map(record => ordinalOf(record)).sort()).to.deep.equal(['1', '2', undefined, undefined, undefined])
  })

  const different: readonly { name: string; fields: LogRecord }[] = [
    { name: 'time', fields: { timeUnixNano: '1767225600000000001' } },
    { name: 'severity text', fields: { severityText: 'error' } },
    { name: 'severity number', fields: { severityNumber: 17 } },
    { name: 'body', fields: { body: string('disk fulL') } },
    { name: 'attribute', fields: { attributes: [{ key: 'path', value: string('/x') }] } },
    { name: 'trace id', fields: { traceId: '0af7651916cd43dd8448eb211c80319c' } },
    { name: 'span id', fields: { spanId: 'b7ad6b7169203331' } },
    { name: 'event name', fields: { eventName: 'e' } },
  ]
  for (const { name, fields } of different)
    it(`records that differ in their ${name} are not equal`, async () => {
      const records = await sentOf(() => postJson(payloadOf([LINE, { ...LINE, ...fields }])))
      expect(records.map(record => ordinalOf(record))).to.deep.equal([undefined, undefined])
    })

  const spelling = (fields: string) => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${fields}]}]}]}`
  const spellings: Readonly<Record<string, string>> = {
    'the order of members': `{"timeUnixNano":"5","body":{"stringValue":"a"}},{"body":{"stringValue":"a"},"timeUnixNano":"5"}`,
    'space, escapes and names': `{"timeUnixNano":"5","severityText":"A"},{ "severity_text" : "\\u0041", "time_unix_nano" : 5 }`,
    numbers: `{"timeUnixNano":"5","attributes":[{"key":"a","value":{"intValue":7}}]},{"timeUnixNano":0.5e1,"attributes":[{"key":"a","value":{"intValue":"7"}}]}`,
    'the order of attributes': `{"timeUnixNano":"5","attributes":[{"key":"a","value":{"intValue":1}},{"key":"b"}]},{"timeUnixNano":"5","attributes":[{"key":"b"},{"key":"a","value":{"intValue":1}}]}`,
    'the time at which they were seen': `{"timeUnixNano":"5","observedTimeUnixNano":"6"},{"timeUnixNano":"5","observedTimeUnixNano":"7"}`,
    'which of the times is given': `{"timeUnixNano":"5"},{"observedTimeUnixNano":"5"}`,
    'ids of zeros and ids of capitals': `{"timeUnixNano":"5","traceId":"0AF7651916CD43DD8448EB211C80319C"},{"timeUnixNano":"5","traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"0000000000000000"}`,
  }
  for (const [name, records] of Object.entries(spellings))
    it(`records that differ only in ${name} are equal`, async () => {
      expect((await sentOf(() => postJson(spelling(records)))).map(record => ordinalOf(record))).to.deep.equal([undefined, '1'])
    })

  const places: Readonly<Record<string, { readonly record: string; readonly attributes: readonly KeyValue[] }>> = {
    'an empty record': { record: '{}', attributes: [] },
    'an empty record with space': { record: '{ }', attributes: [] },
    'an empty list': { record: '{"timeUnixNano":"5","attributes":[ ]}', attributes: [] },
    'a list that is null': { record: '{"timeUnixNano":"5","attributes":null}', attributes: [] },
    'a list given twice': {
      record: '{"attributes":[{"key":"a"}],"timeUnixNano":"5","attributes":[{"key":"b"}],"x":[{"attributes":[]}]}',
      attributes: [{ key: 'b' }],
    },
    'an escaped name': { record: '{"timeUnixNano":"5","\\u0061ttributes":[{"key":"]"}]}', attributes: [{ key: ']' }] },
  }
  for (const [name, { record, attributes }] of Object.entries(places))
    it(`the ordinal stands behind the record's own attributes: ${name}`, async () => {
      const [first, second] = await sentOf(() => postJson(spelling(`${record},${record}`)))
      expect(first!.attributes ?? []).to.deep.equal(attributes)
      expect(second!.attributes).to.deep.equal([...attributes, { key: 'record.ordinal', value: { intValue: '1' } }])
    })

  it("a client's own attribute of that name is kept, and the records are apart", async () => {
    const own = { ...LINE, attributes: [{ key: 'record.ordinal', value: string('mine') }, { key: 'record.ordinal_2' }] }
    const records = await sentOf(() => postJson(payloadOf(six(own))))
    for (const { attributes } of records) expect(attributes!.slice(0, 2)).to.deep.equal(own.attributes)
    expect(records.map(record => ordinalOf(record, 'record.ordinal_3'))).to.deep.equal([undefined, '1', '2', '3', '4', '5'])
  })

  it('six equal records become six documents, and the same six when they are sent again', async () => {
    const ids: string[] = []
    for (let i = 0; i < 2; i++) {
      const before = harness.bus.sent.length
      await postJson(payloadOf(six(LINE)))
      const etl = createEtl({ defaultTenant: 'default', retentionDays: 30, lookupFeatures: () => undefined })
      const messages = harness.bus.sent.slice(before)
      const flat = messages.flatMap(({ record }) => etl.process(record.value, Date.now(), record.key).records)
      expect(flat).to.have.length(6)
      ids.push(...flat.map(({ value }) => decodeFlatRecord(value)!.canonical.document_id))
      const builder = createDocumentBuilder()
      const document = builder.log({ key: flat[1]!.key, value: flat[1]!.value, headers: flat[1]!.headers ?? {} })
      expect(JSON.stringify(document)).to.be.a('string')
    }
    expect(new Set(ids.slice(0, 6)).size).to.equal(6)
    expect(ids.slice(6)).to.deep.equal(ids.slice(0, 6))
  })

  it('as many documents as records, whatever the records are', async () => {
    const key = fc.constantFrom('a', 'b', 'a.b', 'a.b.b', '')
    const { attribute } = fc.letrec<{ attribute: KeyValue; value: AnyValue }>(tie => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<AnyValue>({ intValue: '1' }, { intValue: 1 }, string('1'), { doubleValue: 1 }, {}, { arrayValue: {} }),
        fc.record({ kvlistValue: fc.record({ values: fc.array(tie('attribute'), { maxLength: 3 }) }) }),
      ),
      attribute: fc.record({ key, value: tie('value') }, { requiredKeys: [] }),
    }))
    const attributes = fc.array(attribute, { maxLength: 2 })
    const record = fc.record({ timeUnixNano: fc.constantFrom('5', 5, '6'), body: fc.constantFrom(undefined, string('x')), attributes })
    const group = fc.record({
      resource: fc.record({ attributes: fc.array(attribute, { maxLength: 1 }) }),
      scopeLogs: fc.array(fc.record({ logRecords: fc.array(record, { maxLength: 6 }) }), { maxLength: 2 }),
    })
    const etl = createEtl({ defaultTenant: 'default', retentionDays: 30, lookupFeatures: () => undefined })
    await fc.assert(
      fc.asyncProperty(fc.array(group, { maxLength: 3 }), async resourceLogs => {
        const layout = acceptJson(Buffer.from(JSON.stringify({ resourceLogs })), { observedTimeUnixNano: TIME })
        const marked = findEqualKeys(layout.timeKeys)
        const numbered = marked === undefined ? layout : allSteps(numberEqualRecords(layout, marked))
        const message = joinFragments(cutFragments(numbered, MAX_BUS_MESSAGE_BYTES).fragments)
        const ids = etl.process(message, 0).records.map(({ value }) => decodeFlatRecord(value)!.canonical.document_id)
        expect(ids).to.have.length(layout.recordCount)
        expect(new Set(ids).size).to.equal(layout.recordCount)
      }),
      { seed: 7, numRuns: rounds(1500) },
    )
  })

  it('requests of two clients are not taken together', async () => {
    const records = await sentOf(async () => void (await Promise.all([postJson(payloadOf([LINE])), postJson(payloadOf([LINE]))])))
    expect(records.map(record => ordinalOf(record))).to.deep.equal([undefined, undefined])
  })

  it('a hundred thousand records of one second, equal or not, keep nobody else waiting', async () => {
    for (const bodyOf of [() => 'same', (i: number) => `line ${i}`]) {
      const records = Array.from({ length: 100_000 }, (_, i) => ({ timeUnixNano: TIME, body: string(bodyOf(i)) }))
      let isDone = false
      let longestMs = 0
      const sending = harness.post(JSON.stringify(payloadOf(records))).finally(() => (isDone = true))
      // By the thread's own CPU time: other processes hold it up, too.
      for (let last = process.threadCpuUsage(); !isDone; last = process.threadCpuUsage()) {
        await new Promise(resolve => setTimeout(resolve, 1))
        const { user, system } = process.threadCpuUsage(last)
        longestMs = Math.max(longestMs, (user + system) / 1_000)
      }
      expect((await sending).status).to.equal(200)
      expect(longestMs).to.be.below(1000)
    }
  })
})
