import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { MAX_BUS_MESSAGE_BYTES } from '../../contract/topics.ts'
import type { LogRecord, LogsPayload } from '../../otlp/payload.ts'
import { type HostileOtlpRequest, hostileOtlpRequests } from '../../testing/hostile/otlp-requests.ts'
import { block, integerField } from '../../testing/hostile/wire-writer.ts'
import { callGrpc, grpcMessage, type Harness, startHarness } from './testing/collector-harness.ts'

const PROTOBUF = { 'content-type': 'application/x-protobuf' }
/** 200, 400, 413, 415; OK, INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED, or HTTP's 415 where it is no gRPC. */
const ANSWERS = /^(?:200|400|413|415|grpc (?:0|3|8|12|415))$/
const REQUESTS = 400
const SEED = Number(process.env['HOSTILE_SEED'] ?? 20_261_122)

describe('the collector and hostile requests', () => {
  let harness: Harness
  before(async () => {
    harness = await startHarness({ maxRequestBytes: 64 << 20, maxPendingBytes: 256 << 20 })
  })
  after(() => harness.collector.stop())

  async function answerOf({ door, body, contentType, contentEncoding }: HostileOtlpRequest): Promise<string> {
    const type = contentType === '' ? {} : { 'content-type': contentType }
    if (door !== 'grpc') {
      const encoding = contentEncoding === undefined ? {} : { 'content-encoding': contentEncoding }
      return String((await harness.post(body, { ...type, ...encoding })).status)
    }
    const encoding = contentEncoding === undefined ? {} : { 'grpc-encoding': contentEncoding }
    const { headers, trailers } = await callGrpc(harness.grpcPort, {
      frames: body.length === 0 ? [] : [body],
      headers: { ...type, ...encoding },
    })
    return `grpc ${trailers['grpc-status'] ?? headers[':status']}`
  }

  it('each is taken or refused for what it is; what reaches the bus is OTLP JSON, and a good request beside them is taken', async () => {
    const good = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano: '1', severityText: 'good' }] }] }] })
    let sent = 0
    let goodSeen = 0
    let count = 0
    for (const request of hostileOtlpRequests(SEED)) {
      if (++count > REQUESTS) break
      const [answer, beside] = await Promise.all([answerOf(request), harness.post(good)])
      const where = `request ${count} of seed ${SEED}: ${request.note}`
      expect(answer, where).to.match(ANSWERS)
      expect(beside.status, where).to.equal(200)
      for (const { record } of harness.bus.sent.slice(sent)) {
        expect(record.value.length, where).to.be.at.most(MAX_BUS_MESSAGE_BYTES)
        const payload = JSON.parse(Buffer.from(record.value).toString()) as LogsPayload
        for (const { scopeLogs } of payload.resourceLogs!)
          for (const { logRecords } of scopeLogs!) for (const each of logRecords!) if (each.severityText === 'good') goodSeen++
      }
      sent = harness.bus.sent.length
    }
    expect(goodSeen).to.equal(REQUESTS)
    expect(harness.loggedErrors).to.deep.equal([])
  }).timeout(120_000)

  /** A value that gives each of its lists beside a field that nobody knows. */
  function nested(levels: number): Buffer {
    let value: Buffer = integerField(3, 1)
    for (let i = 1; i < levels; i++) value = Buffer.concat([block(6, block(1, block(2, value), block(1), block(1))), integerField(15, 1)])
    return block(1, block(2, block(2, block(5, value))))
  }
  for (const { levels, http, grpc } of [
    { levels: 22, http: 200, grpc: '0' },
    { levels: 40, http: 200, grpc: '0' },
    { levels: 100, http: 200, grpc: '0' },
    { levels: 101, http: 400, grpc: '3' },
    { levels: 3_000, http: 400, grpc: '3' },
  ])
    it(`repeated and unknown fields, ${levels} levels deep, are answered at once`, async () => {
      const message = nested(levels)
      const startedMs = performance.now()
      expect((await harness.post(message, PROTOBUF)).status).to.equal(http)
      expect((await callGrpc(harness.grpcPort, { frames: [grpcMessage(message)] })).trailers['grpc-status']).to.equal(grpc)
      expect(performance.now() - startedMs).to.be.below(1_000)
    })

  const unknown = (bytes: number) => Buffer.alloc(bytes, integerField(15, 1))
  const records = (count: number, record: string) => Array.from({ length: count }, () => record).join(',')
  const SCOPE_OF_UNKNOWN = block(1, block(2, unknown(40_000_000)))
  const EQUAL_RECORDS = block(1, block(2, Buffer.alloc(600_000, block(2))))
  const JSON_RECORDS = Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${records(400_000, '{"timeUnixNano":"1"}')}]}]}]}`)
  const jsonRequest = (record: string) => Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${record}]}]}]}`)
  const JSON_ATTRIBUTES = jsonRequest(`{"attributes":[${records(4_000_000, '{"key":""}')}]}`)
  const JSON_UNKNOWN = jsonRequest(`{"timeUnixNano":"1","unknown":[${records(10_000_000, '{}')}]}`)
  const JSON_RESOURCE = Buffer.from(
    `{"unknown":[${records(5_000_000, '{}')}],"resourceLogs":[{"resource":{"attributes":[${records(2_000_000, '{"key":""}')}]},"scopeLogs":[{"logRecords":[{}]}]}]}`,
  )
  for (const { title, body, headers } of [
    { title: 'forty megabytes of fields that OTLP does not know', body: SCOPE_OF_UNKNOWN, headers: PROTOBUF },
    { title: 'four million attributes of one record in JSON', body: JSON_ATTRIBUTES, headers: {} },
    { title: 'thirty megabytes of one JSON field that OTLP does not know', body: JSON_UNKNOWN, headers: {} },
    { title: 'two million attributes of a resource in JSON', body: JSON_RESOURCE, headers: {} },
    { title: '300,000 equal records', body: EQUAL_RECORDS, headers: PROTOBUF },
    { title: '400,000 equal records in JSON', body: JSON_RECORDS, headers: {} },
  ])
    it(`${title} in some kilobytes of gzip: others get their turns meanwhile`, async () => {
      const zipped = gzipSync(body)
      const send = async () => expect((await harness.post(zipped, { ...headers, 'content-encoding': 'gzip' })).status).to.equal(200)
      // Code that has not run before is slow.
      await send()
      const startedMs = cpuMs()
      let lastMs = startedMs
      let longestMs = 0
      const turns = setInterval(() => {
        longestMs = Math.max(longestMs, cpuMs() - lastMs)
        lastMs = cpuMs()
      }, 1)
      try {
        await send()
      } finally {
        clearInterval(turns)
      }
      expect(longestMs).to.be.below((cpuMs() - startedMs) / 4)
    }).timeout(60_000)

  it('what is too large as it comes, though not in JSON, is rejected, and the records beside it are taken', async () => {
    const good = (message: string) =>
      block(2, Buffer.concat([Buffer.from([9, 1, 0, 0, 0, 0, 0, 0, 0]), block(5, block(1, Buffer.from(message)))]))
    const large = 2 * MAX_BUS_MESSAGE_BYTES + 2
    const record = block(1, block(2, Buffer.concat([good('before'), block(2, unknown(large)), good('after')])))
    const resource = block(1, Buffer.concat([block(1, unknown(large)), block(2, good('of a large resource'))]))
    const scope = block(1, block(2, Buffer.concat([block(1, unknown(large)), good('of a large scope')])))
    const from = harness.bus.sent.length
    const answer = await harness.post(Buffer.concat([record, resource, scope]), PROTOBUF)
    expect(answer.status).to.equal(200)
    expect(answer.body.toString()).to.contain('3 log records are larger than')
    const taken = harness.bus.sent.slice(from).flatMap(({ record: { value } }) => JSON.parse(Buffer.from(value).toString()).resourceLogs)
    const messages = taken.flatMap(({ scopeLogs }) => scopeLogs[0].logRecords.map((each: LogRecord) => each.body?.stringValue))
    expect(messages).to.deep.equal(['before', 'after'])
  })

  describe('parts in JSON that are too large for any message', () => {
    const good = (message: string) => ({ timeUnixNano: '1', body: { stringValue: message } })
    const attributes = Array.from({ length: (2 * MAX_BUS_MESSAGE_BYTES) / 10 }, () => ({ key: '' }))
    const large = { timeUnixNano: '1', attributes, body: { stringValue: 'large' } }
    const request = {
      resourceLogs: [
        { scopeLogs: [{ logRecords: [good('before'), large, good('after')] }] },
        { resource: { attributes }, scopeLogs: [{ logRecords: [good('of a large resource')] }] },
        { scopeLogs: [{ scope: { attributes }, logRecords: [good('of a large scope')] }] },
      ],
    }

    it('are rejected, and the records beside them are taken', async () => {
      const from = harness.bus.sent.length
      const answer = await harness.post(JSON.stringify(request))
      expect(answer.status).to.equal(200)
      expect(answer.body.toString()).to.contain('3 log records are larger than')
      const taken = harness.bus.sent.slice(from).flatMap(({ record: { value } }) => JSON.parse(Buffer.from(value).toString()).resourceLogs)
      const messages = taken.flatMap(({ scopeLogs }) => scopeLogs[0].logRecords.map((each: LogRecord) => each.body?.stringValue))
      expect(messages).to.deep.equal(['before', 'after'])
    })

    it('are refused with their request where they are no JSON', async () => {
      const broken = JSON.stringify(request).replace('"large"', '"large')
      const { status, body } = await harness.post(broken)
      expect(status).to.equal(400)
      expect(body.toString()).to.contain('resourceLogs[0].scopeLogs[0].logRecords[1]')
    })
  })
})

/** CPU that this thread has used, ms. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
