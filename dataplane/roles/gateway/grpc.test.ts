/** gRPC through the gateway, seen by an independent client, `@grpc/grpc-js`. */
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { Client, type ClientOptions, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { MAX_BUS_MESSAGE_BYTES } from '../../contract/topics.ts'
import { decodeMessage } from '../../otlp/testing/logs-proto.ts'
import { LOGS_EXPORT_PATH } from '../../otlp-intake/grpc-message.ts'
import { SearchStoreUnavailable } from '../../ports/search-store.ts'
import { SILENT } from '../../telemetry/log.ts'
import { grpcMessage } from '../collector/testing/collector-harness.ts'
import { buildPayload, buildProtobuf } from '../collector/testing/requests.ts'
import { type Harness, startHarness } from './testing/gateway-harness.ts'

const ONE = { service: 'cart', messages: ['hello'] }
const GZIP = { 'grpc.default_compression_algorithm': 2 } as const
const raw = (bytes: Buffer) => bytes

interface Call {
  readonly key?: string | undefined
  readonly metadata?: Readonly<Record<string, string>>
  readonly path?: string
  readonly deadlineMs?: number
  readonly options?: ClientOptions
}

interface Answer {
  readonly code: status
  readonly details: string
  readonly response: Record<string, unknown> | undefined
  /** Whether the same call may succeed later: `google.rpc.RetryInfo`. */
  readonly mayRetry: boolean
}

const ACCEPTED: Answer = { code: status.OK, details: '', response: {}, mayRetry: false }

function toAnswer(error: ServiceError | null, response: Buffer | undefined): Answer {
  if (error === null) return { ...ACCEPTED, response: decodeMessage('ExportLogsServiceResponse', response!) }
  const [details] = error.metadata.get('grpc-status-details-bin')
  const mayRetry = details !== undefined && JSON.stringify(decodeMessage('Status', details as Buffer)).includes('RetryInfo')
  return { code: error.code, details: error.details, response: undefined, mayRetry }
}

for (const isLocal of [false, true])
  describe(`gRPC through the gateway to a collector of ${isLocal ? 'the same process' : 'its own'}`, () => suite(isLocal))

function suite(isLocal: boolean): void {
  let harness: Harness
  let clients: Client[]
  before(async () => {
    harness = await startHarness({}, undefined, isLocal)
  })
  after(() => harness.stop())
  beforeEach(() => {
    clients = []
    harness.collector.bus.forget()
  })
  afterEach(() => {
    for (const client of clients) client.close()
  })

  const connect = (of: Harness, options: ClientOptions = {}) => {
    const client = new Client(`127.0.0.1:${of.gateway.port}`, credentials.createSsl(Buffer.from(of.certificate.cert)), options)
    clients.push(client)
    return client
  }
  const begin = (
    message: Buffer,
    { key, metadata = {}, path = LOGS_EXPORT_PATH, deadlineMs, options }: Call,
    of = harness,
    client = connect(of, options),
  ) => {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const sent = new Metadata()
    if (key !== undefined) sent.set('x-service-api-key', key)
    for (const [name, value] of Object.entries(metadata)) sent.set(name, value)
    const timeouts = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs }
    const call = client.makeUnaryRequest(path, raw, raw, message, sent, timeouts, (error: ServiceError | null, response?: Buffer) =>
      resolve(toAnswer(error, response)),
    )
    return { answer: promise, cancel: () => call.cancel() }
  }
  const send = (message: Buffer, call: Call, of = harness) => begin(message, call, of).answer
  const withKey = () => ({ key: harness.key })

  for (const [name, options] of Object.entries({ plain: {}, gzip: GZIP }))
    it(`a ${name} request goes to the collector with the tenant of the key`, async () => {
      const answer = await send(buildProtobuf({ ...ONE, tenant: 'globex' }), { ...withKey(), options })
      expect(answer).to.deep.equal(ACCEPTED)
      expect(harness.collector.payloads()).to.deep.equal([{ key: 'acme/cart', payload: buildPayload({ ...ONE, tenant: 'acme' }) }])
    })

  it('many calls on one connection', async () => {
    const client = connect(harness)
    const calls = Array.from(
      { length: 300 },
      (_, i) => begin(buildProtobuf({ service: `s${i}`, messages: ['x'] }), withKey(), harness, client).answer,
    )
    for (const { code } of await Promise.all(calls)) expect(code).to.equal(status.OK)
    const tenants = new Set(harness.collector.payloads().flatMap(({ key }) => key.split('/')[0]))
    expect([...tenants]).to.deep.equal(['acme'])
  })

  for (const [name, key] of Object.entries({ 'no key': undefined, 'another one': `svc_proj_${'0'.repeat(64)}`, 'no key at all': 'x' }))
    it(`UNAUTHENTICATED for ${name}, naming the header`, async () => {
      const { code, details } = await send(buildProtobuf(ONE), { key })
      expect(code).to.equal(status.UNAUTHENTICATED)
      expect(details).to.match(/^missing or invalid API key: .*x-service-api-key/)
      expect(harness.collector.payloads()).to.deep.equal([])
    })

  it('UNAUTHENTICATED before a large message is read', async () => {
    const { code } = await send(Buffer.alloc(3 << 20), { key: undefined })
    expect(code).to.equal(status.UNAUTHENTICATED)
  })

  it('a tenant in the metadata is dropped', async () => {
    await send(buildProtobuf(ONE), { ...withKey(), metadata: { 'x-service-tenant-id': 'globex' } })
    expect(harness.collector.payloads()[0]!.key).to.equal('acme/cart')
  })

  it('INVALID_ARGUMENT for what is no OTLP', async () => {
    expect((await send(Buffer.from('hello'), withKey())).code).to.equal(status.INVALID_ARGUMENT)
  })

  it('RESOURCE_EXHAUSTED for a message that is too large, plain or unpacked', async () => {
    const large = Buffer.alloc((4 << 20) + 1)
    expect((await send(large, withKey())).code).to.equal(status.RESOURCE_EXHAUSTED)
    expect((await send(large, { ...withKey(), options: GZIP })).code).to.equal(status.RESOURCE_EXHAUSTED)
  })

  it('UNIMPLEMENTED for another method', async () => {
    expect((await send(buildProtobuf(ONE), { ...withKey(), path: '/some.Service/Method' })).code).to.equal(status.UNIMPLEMENTED)
  })

  it('DEADLINE_EXCEEDED when the bus takes longer', async () => {
    const release = harness.collector.bus.hold()
    expect((await send(buildProtobuf(ONE), { ...withKey(), deadlineMs: 150 })).code).to.equal(status.DEADLINE_EXCEEDED)
    release()
  })

  it('DEADLINE_EXCEEDED also for a client that does not look at the time itself', async () => {
    const session = connectHttp2(`https://127.0.0.1:${harness.gateway.port}`, { ca: harness.certificate.cert })
    const head = { ':method': 'POST', ':path': LOGS_EXPORT_PATH, 'content-type': 'application/grpc', te: 'trailers' }
    const stream = session.request({ ...head, 'x-service-api-key': harness.key, 'grpc-timeout': '1n' })
    stream.end(grpcMessage(buildProtobuf(ONE)))
    const [answer] = (await once(stream, 'response')) as [Readonly<Record<string, unknown>>]
    session.destroy()
    expect(answer['grpc-status']).to.equal(String(status.DEADLINE_EXCEEDED))
  })

  it('calls and other requests by turns on one connection', async () => {
    const session = connectHttp2(`https://127.0.0.1:${harness.gateway.port}`, { ca: harness.certificate.cert })
    const ask = async (head: Readonly<Record<string, string>>, body?: Buffer) => {
      const stream = session.request({ ...head, 'x-service-api-key': harness.key }, { endStream: body === undefined })
      if (body !== undefined) stream.end(body)
      const trailers = once(stream, 'trailers').catch(() => [{}])
      const [answer] = (await once(stream, 'response')) as [Readonly<Record<string, unknown>>]
      stream.resume()
      return { answer, trailers: body === undefined ? {} : ((await trailers) as [Readonly<Record<string, unknown>>])[0] }
    }
    const call = { ':method': 'POST', ':path': LOGS_EXPORT_PATH, 'content-type': 'application/grpc', te: 'trailers' }
    for (let i = 0; i < 2; i++) {
      expect((await ask(call, grpcMessage(buildProtobuf(ONE)))).trailers).to.include({ 'grpc-status': String(status.OK) })
      expect((await ask({ ':path': '/api/ticketing/api/incidents' })).answer).to.include({ ':status': 200 })
    }
    session.destroy()
    expect(harness.collector.payloads().map(({ key }) => key)).to.deep.equal(['acme/cart', 'acme/cart'])
    expect(harness.asked.at(-1)!.headers['x-service-tenant-id']).to.equal('acme')
  })

  it('no byte of a message is looked at before its key is known', async () => {
    const { promise: known, resolve: tell } = Promise.withResolvers<void>()
    const find: Harness['keys']['find'] = async hash => {
      await known
      return harness.keys.find(hash)
    }
    const slow = await startHarness({ keys: { ...harness.keys, find } }, undefined, isLocal)
    try {
      const session = connectHttp2(`https://127.0.0.1:${slow.gateway.port}`, { ca: slow.certificate.cert })
      const head = { ':method': 'POST', ':path': LOGS_EXPORT_PATH, 'content-type': 'application/grpc', te: 'trailers' }
      const stream = session.request({ ...head, 'x-service-api-key': harness.key })
      // No message of gRPC: its flag is 7.
      stream.end(Buffer.alloc(3 << 20, 7))
      let answer: Readonly<Record<string, unknown>> | undefined
      stream.on('response', headers => {
        answer = headers
      })
      await new Promise(resolve => setTimeout(resolve, 200))
      expect(answer).to.equal(undefined)
      tell()
      await once(stream, 'response')
      session.destroy()
      expect(answer!['grpc-status']).to.equal(String(status.RESOURCE_EXHAUSTED))
    } finally {
      await slow.stop()
    }
  })

  it('a call that is given up is given up at the collector', async () => {
    const release = harness.collector.bus.hold()
    const { answer, cancel } = begin(buildProtobuf(ONE), withKey())
    while (harness.collector.bus.waitingSends < 1) await new Promise(setImmediate)
    cancel()
    expect((await answer).code).to.equal(status.CANCELLED)
    release()
    expect((await send(buildProtobuf(ONE), withKey())).code).to.equal(status.OK)
  })

  for (const [reason, code] of [
    ['overloaded', status.RESOURCE_EXHAUSTED],
    ['unavailable', status.UNAVAILABLE],
    ['full', status.UNAVAILABLE],
  ] as const)
    it(`${status[code]} with RetryInfo while the bus is ${reason}`, async () => {
      harness.collector.bus.failWith(reason)
      const answer = await send(buildProtobuf(ONE), withKey())
      harness.collector.bus.failWith(undefined)
      expect(answer).to.include({ code, mayRetry: true })
    })

  it('what the collector rejects of a request is told', async () => {
    const { code, response } = await send(buildProtobuf({ ...ONE, messages: ['a', 'x'.repeat(MAX_BUS_MESSAGE_BYTES)] }), withKey())
    expect(code).to.equal(status.OK)
    expect(response).to.have.nested.property('partialSuccess.rejectedLogRecords', '1')
  })

  for (const count of [0, 2])
    it(`INVALID_ARGUMENT for ${count} messages in one call`, async () => {
      const { promise, resolve } = Promise.withResolvers<Answer>()
      const metadata = new Metadata()
      metadata.set('x-service-api-key', harness.key)
      const stream = connect(harness).makeClientStreamRequest(LOGS_EXPORT_PATH, raw, raw, metadata, (error, response) =>
        resolve(toAnswer(error, response)),
      )
      for (let i = 0; i < count; i++) stream.write(buildProtobuf(ONE))
      stream.end()
      expect((await promise).code).to.equal(status.INVALID_ARGUMENT)
      expect(harness.collector.payloads()).to.deep.equal([])
    })

  it('UNAUTHENTICATED on a connection that is open, once the key is revoked', async () => {
    const { id, key } = (await harness.keys.create('acme', 'short-lived'))!
    const client = connect(harness)
    expect(await begin(buildProtobuf(ONE), { key }, harness, client).answer).to.deep.equal(ACCEPTED)
    await harness.keys.revoke('acme', id)
    expect((await begin(buildProtobuf(ONE), { key }, harness, client).answer).code).to.equal(status.UNAUTHENTICATED)
    expect(await begin(buildProtobuf(ONE), withKey(), harness, client).answer).to.deep.equal(ACCEPTED)
  })

  it('UNAUTHENTICATED for a key that comes twice', async () => {
    const metadata = new Metadata()
    for (const key of [harness.key, harness.foreignKey]) metadata.add('x-service-api-key', key)
    const { promise, resolve } = Promise.withResolvers<Answer>()
    connect(harness).makeUnaryRequest(LOGS_EXPORT_PATH, raw, raw, buildProtobuf(ONE), metadata, {}, (error, response) => {
      resolve(toAnswer(error, response))
    })
    expect((await promise).code).to.equal(status.UNAUTHENTICATED)
  })

  it('a connection is kept alive by pings as frequent as the client likes', async () => {
    const client = connect(harness, {
      'grpc.keepalive_time_ms': 5,
      'grpc.keepalive_timeout_ms': 5_000,
      'grpc.keepalive_permit_without_calls': 1,
    })
    const release = harness.collector.bus.hold()
    const { answer } = begin(buildProtobuf(ONE), withKey(), harness, client)
    while (harness.collector.bus.waitingSends < 1) await new Promise(setImmediate)
    await new Promise(resolve => setTimeout(resolve, 200))
    release()
    expect(await answer).to.deep.equal(ACCEPTED)
    expect(await begin(buildProtobuf(ONE), withKey(), harness, client).answer).to.deep.equal(ACCEPTED)
  })

  it('a message of the largest size is taken', async () => {
    const message = buildProtobuf({ ...ONE, messages: Array.from({ length: 33 }, () => 'x'.repeat(100_000)) })
    expect(message.length).to.be.above(3_000_000)
    for (const options of [{}, GZIP]) expect((await send(message, { ...withKey(), options })).code).to.equal(status.OK)
  })

  it('a message of the largest size that the collector takes is taken, with the tenant in it', async () => {
    const maxRequestBytes = 4 * MAX_BUS_MESSAGE_BYTES
    const exact = await startHarness({ maxRequestBytes }, undefined, isLocal)
    const build = (lastLength: number) =>
      buildProtobuf({ ...ONE, messages: [...Array(35).fill('x'.repeat(100_000)), 'y'.repeat(lastLength)] })
    const sized = (bytes: number) => build(100_000 + bytes - build(100_000).length)
    try {
      expect(await send(sized(maxRequestBytes), { key: exact.key }, exact)).to.deep.equal(ACCEPTED)
      expect(exact.collector.payloads()[0]!.key).to.equal('acme/cart')
      expect((await send(sized(maxRequestBytes + 1), { key: exact.key }, exact)).code).to.equal(status.RESOURCE_EXHAUSTED)
    } finally {
      await exact.stop()
    }
  })

  it('RESOURCE_EXHAUSTED with RetryInfo beyond the rate of a key', async () => {
    const limited = await startHarness({ requestsPerSecond: 1 }, undefined, isLocal)
    try {
      const answers = await Promise.all(Array.from({ length: 10 }, () => send(buildProtobuf(ONE), { key: limited.key }, limited)))
      const refused = answers.filter(({ code }) => code !== status.OK)
      expect(refused.length).to.be.above(5)
      for (const answer of refused) expect(answer).to.include({ code: status.RESOURCE_EXHAUSTED, mayRetry: true })
    } finally {
      await limited.stop()
    }
  })

  it('UNAVAILABLE with RetryInfo while keys cannot be looked up', async () => {
    const find = () => Promise.reject(new SearchStoreUnavailable('away'))
    const blind = await startHarness({ keys: { ...harness.keys, find } }, undefined, isLocal)
    try {
      expect(await send(buildProtobuf(ONE), { key: harness.key }, blind)).to.include({ code: status.UNAVAILABLE, mayRetry: true })
    } finally {
      await blind.stop()
    }
  })

  it('UNAVAILABLE when the collector is away, of which the log tells', async () => {
    const warnings: string[] = []
    const log = { ...SILENT, warn: (_fields: object, message: string) => void warnings.push(message) }
    const away = await startHarness({ collector: { http: 'http://127.0.0.1:1', grpc: 'http://127.0.0.1:1' }, log })
    try {
      for (let i = 0; i < 2; i++) {
        const { code, details } = await send(buildProtobuf(ONE), { key: away.key }, away)
        expect([code, details]).to.deep.equal([status.UNAVAILABLE, 'the request could not be forwarded to the collector'])
      }
      expect(warnings).to.deep.equal(['the collector gave no answer'])
    } finally {
      await away.stop()
    }
  })

  it('and taken again once the collector is back', async () => {
    await harness.collector.collector.stop()
    expect((await send(buildProtobuf(ONE), withKey())).code).to.equal(status.UNAVAILABLE)
  })
}
