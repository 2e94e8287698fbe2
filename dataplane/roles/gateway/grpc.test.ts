/** gRPC through the gateway, seen by an independent client, `@grpc/grpc-js`. */
import { Client, type ClientOptions, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { decodeMessage } from '../../otlp/testing/logs-proto.ts'
import { buildPayload, buildProtobuf } from '../collector/testing/requests.ts'
import { EXPORT_PATH } from './ingest/export-grpc.ts'
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
    { key, metadata = {}, path = EXPORT_PATH, deadlineMs, options }: Call,
    of = harness,
    client = connect(of, options),
  ) => {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const sent = new Metadata()
    if (key !== undefined) sent.set('x-service-api-key', key)
    for (const [name, value] of Object.entries(metadata)) sent.set(name, value)
    const timeouts = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs }
    const call = client.makeUnaryRequest(path, raw, raw, message, sent, timeouts, (error: ServiceError | null, response?: Buffer) =>
      resolve(
        error === null
          ? { code: status.OK, details: '', response: decodeMessage('ExportLogsServiceResponse', response!) }
          : { code: error.code, details: error.details, response: undefined },
      ),
    )
    return { answer: promise, cancel: () => call.cancel() }
  }
  const send = (message: Buffer, call: Call, of = harness) => begin(message, call, of).answer
  const withKey = () => ({ key: harness.key })

  for (const [name, options] of Object.entries({ plain: {}, gzip: GZIP }))
    it(`a ${name} request goes to the collector with the tenant of the key`, async () => {
      const answer = await send(buildProtobuf({ ...ONE, tenant: 'globex' }), { ...withKey(), options })
      expect(answer).to.deep.equal({ code: status.OK, details: '', response: {} })
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
      expect(details).to.contain('x-service-api-key')
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

  it('a call that is given up is given up at the collector', async () => {
    const release = harness.collector.bus.hold()
    const { answer, cancel } = begin(buildProtobuf(ONE), withKey())
    while (harness.collector.bus.waitingSends < 1) await new Promise(setImmediate)
    cancel()
    expect((await answer).code).to.equal(status.CANCELLED)
    release()
    expect((await send(buildProtobuf(ONE), withKey())).code).to.equal(status.OK)
  })

  it('what the collector refuses is passed on', async () => {
    harness.collector.bus.failWith('unavailable')
    expect((await send(buildProtobuf(ONE), withKey())).code).to.equal(status.UNAVAILABLE)
    harness.collector.bus.failWith(undefined)
  })

  it('UNAVAILABLE when the collector is away', async () => {
    const away = await startHarness({ collector: { http: 'http://127.0.0.1:1', grpc: 'http://127.0.0.1:1' } })
    try {
      const { code, details } = await send(buildProtobuf(ONE), { key: away.key }, away)
      expect([code, details]).to.deep.equal([status.UNAVAILABLE, 'the request could not be forwarded to the collector'])
    } finally {
      await away.stop()
    }
  })

  it('and taken again once the collector is back', async () => {
    await harness.collector.collector.stop()
    expect((await send(buildProtobuf(ONE), withKey())).code).to.equal(status.UNAVAILABLE)
  })
}
