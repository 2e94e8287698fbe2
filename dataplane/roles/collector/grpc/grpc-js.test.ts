/** The gRPC port seen by an independent client, `@grpc/grpc-js`: what its users set (deadlines, compression, keep-alive, retries) and are told. */
import { Client, type ClientOptions, credentials, getChannelzHandlers, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { MAX_BUS_MESSAGE_BYTES } from '../../../contract/topics.ts'
import { decodeMessage } from '../../../otlp/testing/logs-proto.ts'
import { LOGS_EXPORT_PATH } from '../../../otlp-intake/grpc-message.ts'
import type { BusErrorReason } from '../../../ports/bus.ts'
import type { CollectorSettings } from '../collector.ts'
import { type Harness, startHarness } from '../testing/collector-harness.ts'
import { buildPayload, buildProtobuf } from '../testing/requests.ts'

const ONE = { service: 'cart', messages: ['hello'] }
const MESSAGE = buildProtobuf(ONE)
const REQUEST_LIMIT = 4 * MAX_BUS_MESSAGE_BYTES
/** By the numbers of grpc-js. */
const GZIP = { 'grpc.default_compression_algorithm': 2 } as const
const DEFLATE = { 'grpc.default_compression_algorithm': 1 } as const

interface Call {
  readonly path?: string
  readonly metadata?: Readonly<Record<string, string | Buffer>>
  readonly deadlineMs?: number
  readonly options?: ClientOptions
}

interface Answer {
  readonly code: status
  readonly details: string
  /** The delay in `google.rpc.RetryInfo`; undefined where the answer has none. */
  readonly retryAfterSeconds: number | undefined
  readonly response: Record<string, unknown> | undefined
}

const ACCEPTED: Answer = { code: status.OK, details: '', retryAfterSeconds: undefined, response: {} }
const raw = (bytes: Buffer) => bytes

function toAnswer(error: ServiceError | null, response: Buffer | undefined): Answer {
  if (error === null) return { ...ACCEPTED, response: decodeMessage('ExportLogsServiceResponse', response!) }
  return { code: error.code, details: error.details, retryAfterSeconds: retryAfterSeconds(error.metadata), response: undefined }
}

function retryAfterSeconds(metadata: Metadata): number | undefined {
  const [binary] = metadata.get('grpc-status-details-bin')
  if (binary === undefined) return undefined
  const [detail] = decodeMessage('Status', binary as Buffer)['details'] as { value: string }[]
  const { retryDelay } = decodeMessage('RetryInfo', Buffer.from(detail!.value, 'base64')) as { retryDelay: { seconds: string } }
  return Number(retryDelay.seconds)
}

describe('OTLP over gRPC, seen by @grpc/grpc-js', () => {
  let harness: Harness
  let clients: Client[]
  const start = async (settings?: Partial<CollectorSettings>) => {
    harness = await startHarness(settings)
  }
  beforeEach(async () => {
    clients = []
    await start()
  })
  afterEach(async () => {
    for (const client of clients) client.close()
    await harness.collector.stop()
  })

  const connect = (options: ClientOptions = {}) => {
    const client = new Client(`127.0.0.1:${harness.grpcPort}`, credentials.createInsecure(), options)
    clients.push(client)
    return client
  }
  /** `cancel` gives the call up on the client's side. */
  const begin = (
    message: Buffer,
    { path = LOGS_EXPORT_PATH, metadata = {}, deadlineMs, options }: Call = {},
    client = connect(options),
  ) => {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const sent = new Metadata()
    for (const [name, value] of Object.entries(metadata)) sent.set(name, value)
    const timeouts = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs }
    const done = (error: ServiceError | null, response?: Buffer) => resolve(toAnswer(error, response))
    const call = client.makeUnaryRequest(path, raw, raw, message, sent, timeouts, done)
    return { answer: promise, cancel: () => call.cancel() }
  }
  const send = (message: Buffer, call?: Call, client?: Client) => begin(message, call, client).answer
  const untilHeld = async (sends = 1) => {
    while (harness.bus.waitingSends < sends) await new Promise(setImmediate)
  }
  const pendingBytes = async () => {
    const text = await (await fetch(`${harness.healthUrl}/metrics`)).text()
    return Number(/^service_collector_pending_bytes (.*)$/m.exec(text)![1])
  }

  describe('accepts', () => {
    const many = buildProtobuf({ messages: Array.from({ length: 30 }, () => 'x'.repeat(100_000)) })
    const cases: readonly { readonly name: string; readonly message?: Buffer; readonly call?: Call }[] = [
      { name: 'a plain request' },
      { name: 'gzip', call: { options: GZIP } },
      { name: 'deflate', call: { options: DEFLATE } },
      { name: 'a deadline in the future', call: { deadlineMs: 60_000 } },
      {
        name: 'metadata that it does not know, text and binary',
        call: { metadata: { 'x-team': 'a, b', 'x-trace-bin': Buffer.alloc(300) } },
      },
      { name: 'metadata of eight thousand bytes', call: { metadata: { 'x-large': 'v'.repeat(8_000) } } },
      { name: 'a request of several megabytes', message: many },
      { name: 'a request of several megabytes, gzip', message: many, call: { options: GZIP } },
    ]
    for (const { name, message = MESSAGE, call } of cases)
      it(name, async () => {
        expect(await send(message, call)).to.deep.equal(ACCEPTED)
        if (message === MESSAGE) expect(harness.payloads()).to.deep.equal([{ key: 'default/cart', payload: buildPayload(ONE) }])
        else expect(harness.payloads().length).to.be.above(1)
      })

    it('hundreds of calls at once on one connection, each with an answer of its own', async () => {
      const client = connect()
      const requests = Array.from({ length: 600 }, (_, i) => buildProtobuf({ service: `s${i}`, messages: [`m${i}`] }))
      const answers = await Promise.all(requests.map(message => send(message, {}, client)))
      for (const answer of answers) expect(answer).to.deep.equal(ACCEPTED)
      expect(new Set(harness.payloads().map(({ key }) => key))).to.have.property('size', 600)
    })

    it('says in the response which records are rejected', async () => {
      const { code, response } = await send(buildProtobuf({ messages: ['a', 'x'.repeat(MAX_BUS_MESSAGE_BYTES)] }))
      expect(code).to.equal(status.OK)
      expect(response).to.have.nested.property('partialSuccess.rejectedLogRecords', '1')
      expect(response).to.have.nested.property('partialSuccess.errorMessage').that.is.a('string').with.length.above(0)
    })
  })

  describe('refuses for good, without RetryInfo', () => {
    const tooLarge = buildProtobuf({ messages: ['x'.repeat(REQUEST_LIMIT)] })
    const unknownPath = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
    const cases: readonly {
      readonly name: string
      readonly message?: Buffer
      readonly call?: Call
      readonly code: status
      readonly details: RegExp
    }[] = [
      {
        name: 'INVALID_ARGUMENT: a malformed message',
        message: Buffer.from([0x0a, 5, 1]),
        code: status.INVALID_ARGUMENT,
        details: /a length within the message/,
      },
      {
        name: 'UNIMPLEMENTED: an unknown method',
        call: { path: unknownPath },
        code: status.UNIMPLEMENTED,
        details: /no such method: .*Trace/,
      },
      {
        name: 'RESOURCE_EXHAUSTED: over the limit',
        message: tooLarge,
        code: status.RESOURCE_EXHAUSTED,
        details: new RegExp(`bytes \\(MAX_REQUEST_BYTES\\), saw ${tooLarge.length}$`),
      },
      {
        name: 'RESOURCE_EXHAUSTED: over the limit once it is unpacked',
        message: tooLarge,
        call: { options: GZIP },
        code: status.RESOURCE_EXHAUSTED,
        details: /bytes \(MAX_REQUEST_BYTES\), saw more after decompression/,
      },
    ]
    for (const { name, message = MESSAGE, call, code, details } of cases)
      it(name, async () => {
        const answer = await send(message, call)
        expect(answer).to.deep.include({ code, retryAfterSeconds: undefined })
        expect(answer.details).to.match(details)
        expect(harness.bus.sent).to.have.length(0)
      })

    for (const count of [0, 2])
      it(`INVALID_ARGUMENT: ${count} messages in one call`, async () => {
        const { promise, resolve } = Promise.withResolvers<Answer>()
        const stream = connect().makeClientStreamRequest(LOGS_EXPORT_PATH, raw, raw, (error, response) =>
          resolve(toAnswer(error, response)),
        )
        for (let i = 0; i < count; i++) stream.write(MESSAGE)
        stream.end()
        expect(await promise).to.deep.include({ code: status.INVALID_ARGUMENT, retryAfterSeconds: undefined })
        expect(harness.bus.sent).to.have.length(0)
      })

    it('one call, and goes on with the others of its connection', async () => {
      const client = connect()
      const answers = await Promise.all([MESSAGE, tooLarge, Buffer.from([0xff]), MESSAGE].map(message => send(message, {}, client)))
      expect(answers.map(({ code }) => code)).to.deep.equal([status.OK, status.RESOURCE_EXHAUSTED, status.INVALID_ARGUMENT, status.OK])
    })
  })

  describe('refuses for now, with RetryInfo', () => {
    const failures: readonly { readonly reason: BusErrorReason; readonly code: status }[] = [
      { reason: 'overloaded', code: status.RESOURCE_EXHAUSTED },
      { reason: 'unavailable', code: status.UNAVAILABLE },
      { reason: 'full', code: status.UNAVAILABLE },
    ]
    for (const { reason, code } of failures)
      it(`${status[code]} while the bus is ${reason}`, async () => {
        harness.bus.failWith(reason)
        const answer = await send(MESSAGE)
        expect(answer.code).to.equal(code)
        expect(answer.retryAfterSeconds).to.be.above(0)
      })

    it('RESOURCE_EXHAUSTED at the memory limit, and takes what comes once there is room', async () => {
      await harness.collector.stop()
      await start({ maxPendingBytes: 1 << 20, maxRequestBytes: 1 << 20 })
      const message = buildProtobuf({ messages: ['x'.repeat(400_000)] })
      const release = harness.bus.hold()
      const underWay = begin(message)
      await untilHeld()
      const refused = await send(message)
      expect(refused.code).to.equal(status.RESOURCE_EXHAUSTED)
      expect(refused.retryAfterSeconds).to.be.above(0)
      release()
      expect(await underWay.answer).to.deep.equal(ACCEPTED)
      expect(await send(message)).to.deep.equal(ACCEPTED)
    })

    it('so that a retry policy of the client gets through once the bus is back', async () => {
      const retryPolicy = {
        maxAttempts: 5,
        initialBackoff: '0.01s',
        maxBackoff: '0.1s',
        backoffMultiplier: 2,
        retryableStatusCodes: ['UNAVAILABLE'],
      }
      const config = { methodConfig: [{ name: [{}], retryPolicy }] }
      harness.bus.failWith('unavailable')
      const release = harness.bus.hold()
      const { answer } = begin(MESSAGE, { options: { 'grpc.service_config': JSON.stringify(config) } })
      await untilHeld()
      release()
      const releaseAgain = harness.bus.hold()
      await untilHeld()
      harness.bus.failWith(undefined)
      releaseAgain()
      expect(await answer).to.deep.equal(ACCEPTED)
      expect(harness.bus.sendCount).to.equal(1)
    })
  })

  describe('a call that ends before its answer', () => {
    it('DEADLINE_EXCEEDED by the collector, when the bus acknowledges after the deadline', async () => {
      const release = harness.bus.hold()
      // Set by hand: the client's own clock does not end the call first.
      const { answer } = begin(MESSAGE, { metadata: { 'grpc-timeout': '1n' } })
      await untilHeld()
      release()
      expect(await answer).to.deep.include({
        code: status.DEADLINE_EXCEEDED,
        details: 'the deadline passed before the message bus acknowledged',
      })
    })

    const endings: readonly { readonly name: string; readonly code: status; readonly call: Call; readonly cancels: boolean }[] = [
      { name: 'past its deadline', code: status.DEADLINE_EXCEEDED, call: { deadlineMs: 100 }, cancels: false },
      { name: 'cancelled', code: status.CANCELLED, call: {}, cancels: true },
    ]
    for (const { name, code, call, cancels } of endings)
      it(`${name}: what was sent is stored, nothing stays held, and the connection serves on`, async () => {
        const client = connect()
        const release = harness.bus.hold()
        const { answer, cancel } = begin(MESSAGE, call, client)
        await untilHeld()
        if (cancels) cancel()
        expect((await answer).code).to.equal(code)
        release()
        while (harness.bus.sendCount === 0) await new Promise(setImmediate)
        while ((await pendingBytes()) > 0) await new Promise(setImmediate)
        expect(await send(MESSAGE, {}, client)).to.deep.equal(ACCEPTED)
      })

    it('cancelled at any moment: it is stored whole or not at all, nothing stays held, and the connection serves on', async () => {
      const client = connect()
      const text = 'x'.repeat(800_000)
      const message = buildProtobuf({ messages: [text] })
      for (let turns = 0; turns < 30; turns++) {
        const { answer, cancel } = begin(message, {}, client)
        for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
        cancel()
        expect((await answer).code).to.be.oneOf([status.CANCELLED, status.OK])
      }
      while ((await pendingBytes()) > 0) await new Promise(setImmediate)
      for (const { payload } of harness.payloads())
        expect(payload.resourceLogs![0]!.scopeLogs![0]!.logRecords!.map(({ body }) => body!.stringValue)).to.deep.equal([text])
      expect(await send(MESSAGE, {}, client)).to.deep.equal(ACCEPTED)
    })
  })

  describe('a connection', () => {
    it('is kept alive by pings as frequent as the client likes, with and without calls', async () => {
      const client = connect({ 'grpc.keepalive_time_ms': 5, 'grpc.keepalive_timeout_ms': 5_000, 'grpc.keepalive_permit_without_calls': 1 })
      const release = harness.bus.hold()
      const { answer } = begin(MESSAGE, {}, client)
      await untilHeld()
      const pings = await untilPings(client, 10)
      release()
      expect(await answer).to.deep.equal(ACCEPTED)
      await untilPings(client, pings + 10)
      expect(await send(MESSAGE, {}, client)).to.deep.equal(ACCEPTED)
    })

    it('of a collector that stops: calls under way are answered, later ones get UNAVAILABLE', async () => {
      const client = connect()
      const release = harness.bus.hold()
      const underWay = begin(MESSAGE, {}, client)
      await untilHeld()
      const stopped = harness.collector.stop()
      expect(await send(MESSAGE, {}, client)).to.include({ code: status.UNAVAILABLE })
      release()
      expect(await underWay.answer).to.deep.equal(ACCEPTED)
      await stopped
      expect(await send(MESSAGE, {}, client)).to.include({ code: status.UNAVAILABLE })
    })

    it('is made anew by a client that waits for a collector that is started again on its port', async () => {
      const client = connect()
      expect(await send(MESSAGE, {}, client)).to.deep.equal(ACCEPTED)
      await harness.collector.stop()
      await start({ grpcPort: harness.grpcPort })
      await new Promise<void>((resolve, reject) =>
        client.waitForReady(Date.now() + 10_000, error => (error === undefined ? resolve() : reject(error))),
      )
      expect(await send(MESSAGE, {}, client)).to.deep.equal(ACCEPTED)
    })
  })
})

/** Waits until that many pings went out on the client's one connection; resolves with their number. Rejects when the connection was lost. */
async function untilPings(client: Client, count: number): Promise<number> {
  for (;;) {
    const sent = await pingsOf(client)
    if (sent >= count) return sent
    await new Promise(setImmediate)
  }
}

type Lookup = (call: { readonly request: object }, done: (error: unknown, answer: Record<string, unknown>) => void) => void

/** By channelz, gRPC's own account of its connections. */
async function pingsOf(client: Client): Promise<number> {
  const handlers = getChannelzHandlers() as unknown as Readonly<Record<'GetChannel' | 'GetSubchannel' | 'GetSocket', Lookup>>
  const look = async (name: keyof typeof handlers, request: object, field: string) =>
    new Promise<Record<string, unknown>>((resolve, reject) =>
      handlers[name]({ request }, (error, answer) => (error ? reject(error) : resolve(answer[field] as Record<string, unknown>))),
    )
  const channel = await look('GetChannel', { channel_id: client.getChannel().getChannelzRef().id }, 'channel')
  const [subchannelRef] = channel['subchannel_ref'] as { subchannel_id: number }[]
  const subchannel = await look('GetSubchannel', { subchannel_id: subchannelRef!.subchannel_id }, 'subchannel')
  const [socketRef] = subchannel['socket_ref'] as { socket_id: number }[]
  if (socketRef === undefined) throw new Error('the connection was lost')
  const socket = await look('GetSocket', { socket_id: socketRef.socket_id }, 'socket')
  return Number((socket['data'] as { keep_alives_sent: number }).keep_alives_sent)
}
