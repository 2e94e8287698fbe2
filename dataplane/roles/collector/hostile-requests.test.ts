import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { MAX_BUS_MESSAGE_BYTES } from '../../contract/topics.ts'
import type { LogsPayload } from '../../otlp/payload.ts'
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
})
