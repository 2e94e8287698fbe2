import { gzipSync, zstdCompressSync } from 'node:zlib'
import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { MAX_BUS_MESSAGE_BYTES } from '../../contract/topics.ts'
import { decodeMessage } from '../../otlp/testing/logs-proto.ts'
import { LOGS_EXPORT_PATH } from '../../otlp-intake/grpc-message.ts'
import { buildJson, buildPayload, buildProtobuf } from '../collector/testing/requests.ts'
import { type Harness, startHarness } from './testing/gateway-harness.ts'

const ONE = { service: 'cart', messages: ['hello'] }
const PROTOBUF = { 'content-type': 'application/x-protobuf' }
const PATHS = [
  '/',
  '/v1/logs',
  '/api/otel/v1/logs',
  '/health',
  '/metrics',
  '/api/admin/api-keys',
  '/api/search/_cluster/health',
  '/api/bridge/health',
  '/nowhere',
]

describe('the gateway', () => {
  let harness: Harness
  before(async () => {
    harness = await startHarness()
  })
  after(() => harness.stop())
  beforeEach(() => {
    harness.asked.length = 0
    harness.collector.bus.forget()
  })

  describe('asks for a key on every path', () => {
    for (const http2 of [false, true])
      for (const path of PATHS)
        it(`${path} over HTTP/${http2 ? 2 : 1.1}`, async () => {
          for (const key of [undefined, '', 'svc_proj_', `svc_proj_${'0'.repeat(64)}`, `${harness.key}0`, harness.key.slice(0, -1)])
            for (const method of ['GET', 'POST']) {
              const answer = await harness.call(path, { key, method, http2 })
              expect(answer.status).to.equal(401)
              expect(answer.json()['error']).to.contain('x-service-api-key')
            }
        })

    it('a body is not waited for', async () => {
      const answer = await harness.call('/v1/logs', { key: undefined, body: Buffer.alloc(3 << 20, 0x20), http2: true })
      expect(answer.status).to.equal(401)
    })

    it('400 for two hosts, before the key is looked at', async () => {
      for (const more of ['', 'Expect: 100-continue\r\n', 'Expect: more\r\n']) {
        const head = `POST /v1/logs HTTP/1.1\r\nHost: a\r\nHost: b\r\nx-service-api-key: ${harness.key}\r\nContent-Length: 0\r\n${more}\r\n`
        expect(await harness.raw(head)).to.match(/^HTTP\/1.1 400 /)
      }
    })

    it('a reset over HTTP/2 for a host beside another :authority', async () => {
      const { status } = await harness.call('/health', { http2: true, headers: { ':authority': 'a', host: 'A' } })
      expect(status).to.equal(200)
      const refusal = await harness.call('/health', { http2: true, headers: { ':authority': 'a', host: 'b' } }).catch(error => error)
      expect(refusal).to.have.property('code', 'ERR_HTTP2_STREAM_ERROR')
    })

    it('two keys are none', async () => {
      const answer = await harness.call('/health', { key: undefined, headers: { 'x-service-api-key': [harness.key, harness.key] } })
      expect(answer.status).to.equal(401)
    })
  })

  for (const http2 of [false, true])
    it(`answers are kept by no cache, as the tenant stands in a header alone (HTTP/${http2 ? 2 : 1.1})`, async () => {
      for (const path of ['/api/ticketing/api/incidents', '/api/search/_cluster/health', '/api/admin/api-keys', '/health', '/nowhere'])
        expect((await harness.call(path, { http2 })).headers['cache-control'], path).to.equal('no-store')
      expect((await harness.call('/health', { http2, key: undefined })).headers['cache-control']).to.equal('no-store')
    })

  for (const http2 of [false, true])
    describe(`OTLP over HTTP/${http2 ? 2 : 1.1}`, () => {
      for (const path of ['/v1/logs', '/api/otel/v1/logs'])
        it(`JSON to ${path}: 200 { partialSuccess: {} }, with the tenant of the key`, async () => {
          const answer = await harness.call(path, { body: buildJson({ ...ONE, tenant: 'globex' }), http2 })
          expect([answer.status, answer.json()]).to.deep.equal([200, { partialSuccess: {} }])
          expect(harness.collector.payloads()).to.deep.equal([{ key: 'acme/cart', payload: buildPayload({ ...ONE, tenant: 'acme' }) }])
        })

      it('protobuf', async () => {
        const answer = await harness.call('/v1/logs', { body: buildProtobuf({ ...ONE, tenant: 'globex' }), headers: PROTOBUF, http2 })
        expect([answer.status, answer.headers['content-type'], answer.body.length]).to.deep.equal([200, 'application/x-protobuf', 0])
        expect(harness.collector.payloads()).to.deep.equal([{ key: 'acme/cart', payload: buildPayload({ ...ONE, tenant: 'acme' }) }])
      })

      for (const [encoding, compress] of Object.entries({ gzip: gzipSync, zstd: zstdCompressSync }))
        it(`content-encoding ${encoding}`, async () => {
          const answer = await harness.call('/v1/logs', {
            body: compress(Buffer.from(buildJson(ONE))),
            headers: { 'content-encoding': encoding },
            http2,
          })
          expect(answer.status).to.equal(200)
          expect(harness.collector.payloads()[0]!.key).to.equal('acme/cart')
        })

      const refusals = [
        { name: 'malformed JSON', body: '{"resourceLogs":[{"resource":5}]}', status: 400 },
        { name: 'another type', body: 'x', headers: { 'content-type': 'text/plain' }, status: 415 },
        { name: 'another encoding', body: 'x', headers: { 'content-encoding': 'br' }, status: 415 },
        { name: 'no gzip', body: 'x', headers: { 'content-encoding': 'gzip' }, status: 400 },
        { name: 'a body that is too large', body: Buffer.alloc((4 << 20) + 1, 0x20), status: 413 },
        { name: 'a bomb', body: gzipSync(Buffer.alloc((4 << 20) + 1, 0x20)), headers: { 'content-encoding': 'gzip' }, status: 413 },
      ]
      for (const { name, body, headers = {}, status } of refusals)
        it(`${status} for ${name}`, async () => {
          const answer = await harness.call('/v1/logs', { body, headers, http2 })
          expect([answer.status, answer.json()['status']]).to.deep.equal([status, status])
          expect(answer.json()['error']).to.be.a('string')
        })

      it('a protobuf request is told so in protobuf', async () => {
        const answer = await harness.call('/v1/logs', { body: Buffer.from('hello'), headers: PROTOBUF, http2 })
        expect(answer.status).to.equal(400)
        expect(decodeMessage('Status', answer.body)['code']).to.equal(3)
      })

      it('405 with Allow for another method', async () => {
        const answer = await harness.call('/v1/logs', { method: 'PUT', body: '{}', http2 })
        expect([answer.status, answer.headers['allow']]).to.deep.equal([405, 'POST'])
      })
    })

  describe('a request of the largest size that the collector takes', () => {
    const maxRequestBytes = 4 * MAX_BUS_MESSAGE_BYTES
    let exact: Harness
    before(async () => {
      exact = await startHarness({ maxRequestBytes })
    })
    after(() => exact.stop())
    const padded = (bytes: number, json = buildJson(ONE)) => Buffer.concat([Buffer.from(json), Buffer.alloc(bytes - json.length, 0x20)])

    for (const [encoding, compress] of Object.entries({ identity: (body: Buffer) => body, gzip: gzipSync }))
      it(`is taken, with the tenant in it (${encoding})`, async () => {
        const headers = { 'content-encoding': encoding, 'x-service-added-bytes': '1000' }
        const send = (bytes: number) => exact.call('/v1/logs', { body: compress(padded(bytes)), headers })
        expect((await send(maxRequestBytes)).json()).to.deep.equal({ partialSuccess: {} })
        expect(exact.collector.payloads().at(-1)!.key).to.equal('acme/cart')
        expect((await send(maxRequestBytes + 1)).status).to.equal(413)
      })

    it('is taken with one for each of many resources', async () => {
      const one = JSON.stringify({ scopeLogs: [{ logRecords: Array(3).fill({ body: { stringValue: 'm' } }) }] })
      const count = Math.floor(maxRequestBytes / (one.length + 1)) - 1
      const json = `{"resourceLogs":[${Array(count).fill(one).join(',')}]}`
      expect((await exact.call('/v1/logs', { body: padded(maxRequestBytes, json) })).json()).to.deep.equal({ partialSuccess: {} })
    })

    it('is too large where the collector takes less than the gateway', async () => {
      const answer = await harness.call('/v1/logs', { body: padded(maxRequestBytes + 1) })
      expect([answer.status, answer.json()['status']]).to.deep.equal([413, 413])
    })
  })

  describe('passes requests on', () => {
    const prefixes = { bridge: '/health', ticketing: '/api/incidents', agent: '/metrics', airflow: '/api/v2/dags', features: '/health' }
    for (const http2 of [false, true])
      for (const [backEnd, path] of Object.entries(prefixes))
        it(`/api/${backEnd}${path} over HTTP/${http2 ? 2 : 1.1}, with the tenant of the key`, async () => {
          const headers = {
            'x-service-tenant-id': 'globex',
            x_service_tenant_id: 'globex',
            te: 'trailers',
            'x-forwarded-for': '1.2.3.4',
            accept: 'a/b',
          }
          const answer = await harness.call(`/api/${backEnd}${path}?status=open`, { headers, http2 })
          expect([answer.status, answer.json()]).to.deep.equal([200, { backEnd, url: `${path}?status=open` }])
          expect(answer.headers).to.not.have.any.keys('x-of-hop')
          const [{ headers: seen }] = harness.asked as [Harness['asked'][0]]
          expect(seen['x-service-tenant-id']).to.equal('acme')
          expect(seen).to.not.have.any.keys('x_service_tenant_id', 'te', 'x-forwarded-for', 'x-service-api-key')
          expect(seen.accept).to.equal(backEnd === 'agent' ? 'application/json' : 'a/b')
        })

    for (const http2 of [false, true])
      it(`with their body, over HTTP/${http2 ? 2 : 1.1}`, async () => {
        await harness.call('/api/ticketing/api/v1/incidents/batch', { body: { ids: ['a'], action: 'resolve' }, http2 })
        expect(harness.asked.map(({ method, body }) => [method, body])).to.deep.equal([['POST', '{"ids":["a"],"action":"resolve"}']])
      })

    it('/health of the gateway itself', async () => {
      expect((await harness.call('/health')).json()).to.deep.equal({ status: 'ok' })
      const answer = await fetch(`http://127.0.0.1:${harness.gateway.healthPort}/health`)
      expect(await answer.json()).to.deep.equal({ status: 'ok' })
    })

    for (const http2 of [false, true])
      it(`/api/search/health, the standard health check of the search store, over HTTP/${http2 ? 2 : 1.1}`, async () => {
        const answer = await harness.call('/api/search/health', { http2 })
        expect([answer.status, answer.json()]).to.deep.equal([200, { status: 'ok' }])
        expect((await harness.call('/api/search/health', { method: 'POST', body: {}, http2 })).status).to.equal(405)
        expect((await harness.call('/api/search/health?level=indices', { http2 })).status).to.equal(403)
      })

    for (const type of ['application/json', 'application/grpc-web+proto', 'application/grpc+json'])
      for (const http2 of [false, true])
        it(`415 for a call of gRPC's method as ${type}, over HTTP/${http2 ? 2 : 1.1}`, async () => {
          const answer = await harness.call(LOGS_EXPORT_PATH, { body: {}, headers: { 'content-type': type }, http2 })
          expect([answer.status, answer.json()['status']]).to.deep.equal([415, 415])
        })

    it('404 for a path that there is not', async () => {
      const answer = await harness.call('/api/unknown/x')
      expect([answer.status, answer.json()['status']]).to.deep.equal([404, 404])
    })
  })

  describe('manages keys for the tenant of the key', () => {
    const path = '/api/admin/api-keys'

    it('POST shows a key once, GET lists it masked, DELETE revokes it at once', async () => {
      const created = (await harness.call(path, { body: { name: 'ci' } })).json()
      expect(created).to.have.all.keys('id', 'name', 'key', 'createdAt')
      expect(created.key).to.match(/^svc_proj_[0-9a-f]{64}$/)
      expect((await harness.call('/health', { key: created.key })).status).to.equal(200)
      const listed = (await harness.call(path)).json().find(({ id }: { id: string }) => id === created.id)
      expect(listed).to.have.all.keys('id', 'name', 'prefix', 'createdAt', 'lastUsedAt')
      expect([listed.name, listed.prefix]).to.deep.equal(['ci', `${created.key.slice(0, 13)}…${created.key.slice(-4)}`])
      expect(listed.lastUsedAt).to.be.a('string')
      const revoked = await harness.call(path, { method: 'DELETE', body: { id: created.id } })
      expect(revoked.json()).to.deep.equal({ status: 'ok', revokedId: created.id })
      expect((await harness.call('/health', { key: created.key })).status).to.equal(401)
      expect((await harness.call(path, { method: 'DELETE', body: { id: created.id } })).status).to.equal(404)
      expect((await harness.call(path)).body.toString()).to.not.contain(created.id)
    })

    it('a key that was never used says so', async () => {
      const { id } = (await harness.call(path, { body: { name: 'unused' } })).json()
      expect((await harness.call(path)).json().find((key: { id: string }) => key.id === id).lastUsedAt).to.equal(null)
    })

    it('keys of other tenants are neither listed nor revoked', async () => {
      const { id } = (await harness.call(path, { body: { name: 'mine' } })).json()
      expect((await harness.call(path, { key: harness.foreignKey })).body.toString()).to.not.contain(id)
      expect((await harness.call(path, { key: harness.foreignKey, method: 'DELETE', body: { id } })).status).to.equal(404)
    })

    for (const body of [
      undefined,
      {},
      { name: '' },
      { name: '  ' },
      { name: 5 },
      { name: 'x'.repeat(101) },
      { name: 'a', tenant: 'globex' },
    ])
      it(`400 for POST ${JSON.stringify(body)?.slice(0, 40)}`, async () => {
        const answer = await harness.call(path, { method: 'POST', ...(body !== undefined && { body }) })
        expect(answer.status).to.equal(400)
        expect(answer.json()['error']).to.match(/name|tenant|body/)
      })

    it('405 with Allow for another method', async () => {
      const answer = await harness.call(path, { method: 'PUT', body: {} })
      expect([answer.status, answer.headers['allow']]).to.deep.equal([405, 'GET, POST, DELETE'])
    })
  })
})

describe('the gateway of a standalone', () => {
  let harness: Harness
  before(async () => {
    harness = await startHarness({}, undefined, true)
  })
  after(() => harness.stop())
  beforeEach(() => harness.collector.bus.forget())

  for (const http2 of [false, true]) {
    it(`hands exports to the collector of the same process, over HTTP/${http2 ? 2 : 1.1}`, async () => {
      const json = await harness.call('/v1/logs', { body: buildJson({ ...ONE, tenant: 'globex' }), http2 })
      expect([json.status, json.json()]).to.deep.equal([200, { partialSuccess: {} }])
      const protobuf = await harness.call('/v1/logs', { body: buildProtobuf({ ...ONE, tenant: 'globex' }), headers: PROTOBUF, http2 })
      expect([protobuf.status, protobuf.headers['content-type'], protobuf.body.length]).to.deep.equal([200, 'application/x-protobuf', 0])
      const mine = { key: 'acme/cart', payload: buildPayload({ ...ONE, tenant: 'acme' }) }
      expect(harness.collector.payloads()).to.deep.equal([mine, mine])
    })

    it(`answers what the collector refuses as it does itself, over HTTP/${http2 ? 2 : 1.1}`, async () => {
      harness.collector.bus.failWith('unavailable')
      const { status, headers, json } = await harness.call('/v1/logs', { body: buildJson(ONE), http2 })
      harness.collector.bus.failWith(undefined)
      expect([status, headers['retry-after'], json()]).to.deep.equal([
        503,
        '2',
        { error: 'the message bus cannot be reached; try again later', status: 503, code: 14, message: json().error },
      ])
    })
  }

  it('counts them with those of the collector, and stops with it', async () => {
    const metrics = await (await fetch(`${harness.collector.healthUrl}/metrics`)).text()
    expect(metrics).to.match(/service_collector_http_json_records_accepted_total [1-9]/)
    await harness.collector.collector.stop()
    expect((await harness.call('/v1/logs', { body: buildJson(ONE) })).status).to.equal(503)
  })
})

describe('the gateway, when back ends are away', () => {
  let harness: Harness
  const away = 'http://127.0.0.1:1'
  afterEach(() => harness.stop())

  it('502 { error } for the collector, 502 { error, status } for others', async () => {
    const backEnds = { bridge: away, ticketing: away, agent: away, airflow: away, features: away }
    harness = await startHarness({ collector: { http: away, grpc: away }, backEnds, search: { endpoint: away } })
    const logs = await harness.call('/v1/logs', { body: buildJson(ONE) })
    expect([logs.status, logs.json()['error']]).to.deep.equal([502, 'the request could not be forwarded to the collector'])
    for (const path of [
      '/api/bridge/health',
      '/api/ticketing/api/incidents',
      '/api/agent/health',
      '/api/airflow/x',
      '/api/features/health',
      '/api/search/_cluster/health',
      '/api/search/health',
    ]) {
      const answer = await harness.call(path)
      expect([path, answer.status, answer.json()['status']]).to.deep.equal([path, 502, 502])
      expect(answer.json()['error']).to.be.a('string')
    }
  })

  for (const http2 of [false, true])
    it(`401 and 502 of a protobuf export are a google.rpc.Status in protobuf, over HTTP/${http2 ? 2 : 1.1}`, async () => {
      harness = await startHarness({ collector: { http: away, grpc: away } })
      for (const path of ['/v1/logs', '/api/otel/v1/logs']) {
        const asked = { body: buildProtobuf(ONE), headers: PROTOBUF, http2 }
        const unreachable = await harness.call(path, asked)
        expect([unreachable.status, unreachable.headers['content-type']]).to.deep.equal([502, 'application/x-protobuf'])
        expect(decodeMessage('Status', unreachable.body)).to.include({
          code: 14,
          message: 'the request could not be forwarded to the collector',
        })
        const keyless = await harness.call(path, { ...asked, key: undefined })
        expect([keyless.status, keyless.headers['content-type']]).to.deep.equal([401, 'application/x-protobuf'])
        const said = decodeMessage('Status', keyless.body)
        expect(said['code']).to.equal(16)
        expect(said['message']).to.include('x-service-api-key')
      }
    })

  it('a rate limit: 429 with Retry-After', async () => {
    harness = await startHarness({ requestsPerSecond: 1 })
    const answers = await Promise.all(Array.from({ length: 10 }, () => harness.call('/health')))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).to.be.above(5)
    expect(refused[0]!.headers['retry-after']).to.equal('1')
    expect((await harness.call('/health', { key: harness.foreignKey })).status).to.equal(200)
  })

  it('errors of exports that the specification does not show have the form of the collector: four fields, protobuf for a protobuf request', async () => {
    harness = await startHarness({ requestsPerSecond: 1, search: { endpoint: away } })
    const refusedOf = async (headers: Record<string, string>) => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => harness.call('/v1/logs', { method: 'POST', body: '{}', headers })))
      return answers.find(({ status }) => status === 429)!
    }
    const json = await refusedOf({ 'content-type': 'application/json' })
    const error = 'this API key may ask 1 times a second; try again later'
    expect([json.headers['retry-after'], json.json()]).to.deep.equal(['1', { error, status: 429, code: 8, message: error }])
    const protobuf = await refusedOf({ 'content-type': 'application/x-protobuf' })
    expect([protobuf.headers['retry-after'], protobuf.headers['content-type']]).to.deep.equal(['1', 'application/x-protobuf'])
    expect(protobuf.body.toString('latin1')).to.include(error).and.to.include('google.rpc.RetryInfo')
    const wrongMethod = await harness.call('/v1/logs', { method: 'GET', key: harness.foreignKey })
    const problem = 'GET is not allowed here; allowed: POST'
    expect([wrongMethod.headers['allow'], wrongMethod.json()]).to.deep.equal([
      'POST',
      { error: problem, status: 405, code: 12, message: problem },
    ])
  })
})
