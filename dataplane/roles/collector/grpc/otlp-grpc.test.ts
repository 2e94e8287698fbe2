import { connect } from 'node:http2'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { MAX_BUS_MESSAGE_BYTES } from '../../../contract/topics.ts'
import { decodeMessage } from '../../../otlp/testing/logs-proto.ts'
import { LOGS_EXPORT_PATH } from '../../../otlp-intake/grpc-message.ts'
import type { BusErrorReason } from '../../../ports/bus.ts'
import { callGrpc, type GrpcAnswer, type GrpcCall, grpcMessage, type Harness, startHarness } from '../testing/collector-harness.ts'
import { buildPayload, buildProtobuf } from '../testing/requests.ts'

const ONE = { service: 'cart', messages: ['hello'] }
const MESSAGE = buildProtobuf(ONE)
const LIMIT = 4 * MAX_BUS_MESSAGE_BYTES
const status = ({ trailers }: GrpcAnswer) => Number(trailers['grpc-status'])
const details = ({ trailers }: GrpcAnswer) => {
  const binary = trailers['grpc-status-details-bin']
  return binary === undefined
    ? undefined
    : (decodeMessage('Status', Buffer.from(String(binary), 'base64'))['details'] as { value: string }[])
}

describe('OTLP over gRPC: LogsService/Export', () => {
  let harness: Harness
  beforeEach(async () => {
    harness = await startHarness()
  })
  afterEach(() => harness.collector.stop())
  const call = (request: GrpcCall) => callGrpc(harness.grpcPort, request)

  it('answers an empty response and grpc-status 0 once the bus has acknowledged', async () => {
    const answer = await call({ frames: [grpcMessage(MESSAGE)] })
    expect([answer.headers[':status'], answer.headers['content-type'], status(answer)]).to.deep.equal([200, 'application/grpc', 0])
    expect(answer.body).to.deep.equal(Buffer.alloc(5))
    expect(harness.payloads()).to.deep.equal([{ key: 'default/cart', payload: buildPayload(ONE) }])
  })

  const accepted: readonly { name: string; request: GrpcCall }[] = [
    { name: 'a message split over many frames', request: { frames: [...grpcMessage(MESSAGE)].map(byte => Buffer.from([byte])) } },
    { name: 'gzip', request: { headers: { 'grpc-encoding': 'gzip' }, frames: [grpcMessage(gzipSync(MESSAGE), true)] } },
    { name: 'zstd', request: { headers: { 'grpc-encoding': 'zstd' }, frames: [grpcMessage(zstdCompressSync(MESSAGE), true)] } },
    { name: 'a declared encoding, not used', request: { headers: { 'grpc-encoding': 'gzip' }, frames: [grpcMessage(MESSAGE)] } },
    { name: 'a deadline in the future', request: { headers: { 'grpc-timeout': '10S' }, frames: [grpcMessage(MESSAGE)] } },
    {
      name: 'content type application/grpc+proto',
      request: { headers: { 'content-type': 'application/grpc+proto' }, frames: [grpcMessage(MESSAGE)] },
    },
  ]
  for (const { name, request } of accepted)
    it(`accepts ${name}`, async () => {
      expect(status(await call(request))).to.equal(0)
      expect(harness.payloads()).to.have.length(1)
    })

  const large = buildProtobuf({ messages: ['x'.repeat(LIMIT)] })
  const refused: readonly { name: string; request: GrpcCall; code: number; message: RegExp }[] = [
    {
      name: 'a malformed message',
      request: { frames: [grpcMessage(Buffer.from([0x0a, 5, 1]))] },
      code: 3,
      message: /a length within the message/,
    },
    { name: 'no message', request: { frames: [] }, code: 3, message: /prefix of 5 bytes/ },
    { name: 'a message cut off', request: { frames: [grpcMessage(MESSAGE).subarray(0, 20)] }, code: 3, message: /expected one message of/ },
    {
      name: 'two messages',
      request: { frames: [grpcMessage(MESSAGE), grpcMessage(MESSAGE)] },
      code: 3,
      message: /expected one message of/,
    },
    {
      name: 'a compressed flag without an encoding',
      request: { frames: [grpcMessage(gzipSync(MESSAGE), true)] },
      code: 3,
      message: /compressed flag/,
    },
    {
      name: 'an unknown compressed flag',
      request: { frames: [Buffer.concat([Buffer.from([7]), grpcMessage(MESSAGE).subarray(1)])] },
      code: 3,
      message: /0 or 1, saw 7/,
    },
    {
      name: 'an unknown encoding',
      request: { headers: { 'grpc-encoding': 'snappy' }, frames: [grpcMessage(MESSAGE)] },
      code: 12,
      message: /saw snappy/,
    },
    {
      name: 'an unknown method',
      request: { path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export', frames: [] },
      code: 12,
      message: /no such method/,
    },
    { name: 'a message over the limit', request: { frames: [grpcMessage(large)] }, code: 8, message: /expected at most/ },
    {
      name: 'a decompression bomb',
      request: { headers: { 'grpc-encoding': 'gzip' }, frames: [grpcMessage(gzipSync(large), true)] },
      code: 8,
      message: /after decompression/,
    },
  ]
  for (const { name, request, code, message } of refused)
    it(`grpc-status ${code} without RetryInfo for ${name}`, async () => {
      const answer = await call(request)
      expect([answer.headers[':status'], status(answer), details(answer)]).to.deep.equal([200, code, undefined])
      expect(decodeURIComponent(String(answer.trailers['grpc-message']))).to.match(message)
      expect(harness.bus.sent).to.have.length(0)
    })

  const busFailures: readonly { reason: BusErrorReason; code: number }[] = [
    { reason: 'overloaded', code: 8 },
    { reason: 'unavailable', code: 14 },
    { reason: 'full', code: 14 },
  ]
  for (const { reason, code } of busFailures)
    it(`grpc-status ${code} with RetryInfo while the bus is ${reason}`, async () => {
      harness.bus.failWith(reason)
      const answer = await call({ frames: [grpcMessage(MESSAGE)] })
      expect(status(answer)).to.equal(code)
      const { retryDelay } = decodeMessage('RetryInfo', Buffer.from(details(answer)![0]!.value, 'base64')) as {
        retryDelay: { seconds: string }
      }
      expect(Number(retryDelay.seconds)).to.be.above(0)
    })

  it('a record larger than the bus takes is rejected through partial success', async () => {
    const answer = await call({ frames: [grpcMessage(buildProtobuf({ messages: ['a', 'x'.repeat(MAX_BUS_MESSAGE_BYTES)] }))] })
    expect(decodeMessage('ExportLogsServiceResponse', answer.body.subarray(5))).to.have.nested.property(
      'partialSuccess.rejectedLogRecords',
      '1',
    )
    expect(status(answer)).to.equal(0)
  })

  it('DEADLINE_EXCEEDED when the bus acknowledges after the deadline', async () => {
    const release = harness.bus.hold()
    const answer = call({ headers: { 'grpc-timeout': '1n' }, frames: [grpcMessage(MESSAGE)] })
    while (harness.bus.waitingSends === 0) await new Promise(setImmediate)
    release()
    expect(status(await answer)).to.equal(4)
  })

  it('a client that hangs up mid-message leaves nothing held', async () => {
    const pending = async () => {
      const text = await (await fetch(`${harness.healthUrl}/metrics`)).text()
      return Number(/^service_collector_pending_bytes (.*)$/m.exec(text)![1])
    }
    const session = connect(`http://127.0.0.1:${harness.grpcPort}`)
    const stream = session.request({ ':method': 'POST', ':path': LOGS_EXPORT_PATH, 'content-type': 'application/grpc' })
    stream.on('error', () => {})
    stream.write(grpcMessage(MESSAGE).subarray(0, 50))
    while ((await pending()) === 0) await new Promise(setImmediate)
    session.destroy()
    while ((await pending()) > 0) await new Promise(setImmediate)
    expect(status(await call({ frames: [grpcMessage(MESSAGE)] }))).to.equal(0)
  })

  it('OTLP over HTTP/1 reads which port takes it', async () => {
    for (const body of ['{}', 'x'.repeat(300_000)]) {
      const answer = await fetch(`http://127.0.0.1:${harness.grpcPort}/v1/logs`, { method: 'POST', body })
      const message = `this port speaks gRPC alone; OTLP over HTTP goes to port ${harness.httpPort}`
      expect(answer.status).to.equal(400)
      expect(await answer.json()).to.deep.equal({ error: message, status: 400, code: 3, message })
    }
  })

  it('and as a Status where it sends protobuf, as an OpenTelemetry Collector logs it', async () => {
    const headers = { 'content-type': 'application/x-protobuf' }
    const answer = await fetch(`http://127.0.0.1:${harness.grpcPort}/v1/logs`, { method: 'POST', headers, body: new Uint8Array(MESSAGE) })
    expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([400, 'application/x-protobuf'])
    expect(decodeMessage('Status', Buffer.from(await answer.arrayBuffer()))).to.deep.include({
      code: 3,
      message: `this port speaks gRPC alone; OTLP over HTTP goes to port ${harness.httpPort}`,
    })
  })

  it('another protocol than gRPC gets 415', async () => {
    expect((await call({ headers: { 'content-type': 'application/json' }, frames: [] })).headers[':status']).to.equal(415)
  })

  it('stop: UNAVAILABLE for new calls, those under way are answered', async () => {
    const release = harness.bus.hold()
    const underWay = call({ frames: [grpcMessage(MESSAGE)] })
    while (harness.bus.waitingSends === 0) await new Promise(setImmediate)
    const stopped = harness.collector.stop()
    expect(status(await call({ frames: [grpcMessage(MESSAGE)] }))).to.equal(14)
    release()
    expect(status(await underWay)).to.equal(0)
    await stopped
  })
})
