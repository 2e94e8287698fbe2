/** The keyless way to the services (Spec: Access patterns, Errors; Decisions 7). */
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { createSearchStore } from '../../adapters/search/search-store.ts'
import { apiKeyRoutes } from '../../api-keys/key-routes.ts'
import { createApiKeyStore } from '../../api-keys/key-store.ts'
import { decodeMessage } from '../../otlp/testing/logs-proto.ts'
import { type DashboardFixture, startDashboardFixture, textOf } from './testing/dashboard-fixture.ts'

describe('the dashboard as a keyless proxy', () => {
  let dashboard: DashboardFixture
  beforeEach(async () => {
    dashboard = await startDashboardFixture()
  })
  afterEach(() => dashboard.stop())

  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(dashboard.url + path, init)
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  for (const { method = 'GET', path, service, target } of [
    { method: 'POST', path: '/api/otel/v1/logs', service: 'collector', target: '/v1/logs' },
    { path: '/api/bridge/health', service: 'bridge', target: '/health' },
    { method: 'PATCH', path: '/api/bridge/config', service: 'bridge', target: '/config' },
    { path: '/api/search/_cat/indices?format=json', service: 'search', target: '/_cat/indices?format=json' },
    { method: 'POST', path: '/api/search/service-logs-*/_search', service: 'search', target: '/service-logs-*/_search' },
    { path: '/api/search', service: 'search', target: '/' },
    { path: '/api/ticketing/api/incidents?status=open', service: 'ticketing', target: '/api/incidents?status=open' },
    { method: 'DELETE', path: '/api/ticketing/api/v1/silences/a%20b', service: 'ticketing', target: '/api/v1/silences/a%20b' },
    { path: '/api/agent/metrics', service: 'agent', target: '/metrics' },
    { path: '/api/airflow/api/v2/dags', service: 'scheduler', target: '/api/v2/dags' },
    { method: 'POST', path: '/api/features/get-online-features', service: 'features', target: '/get-online-features' },
  ])
    it(`${method} ${path} goes to the ${service}, ${target}`, async () => {
      const body = method === 'GET' ? {} : { body: '{"a":1}' }
      const answer = await call(path, { method, ...body })
      expect(answer.status).to.equal(200)
      expect(answer.body).to.deep.equal({ service, method, url: target, body: method === 'GET' ? '' : '{"a":1}' })
    })

  it('adds Basic authentication to requests to the search store itself, and passes no authorization of callers on', async () => {
    await call('/api/search/_cluster/health', { headers: { authorization: 'Basic bWU6bWU=' } })
    await call('/api/bridge/health', { headers: { authorization: 'Basic bWU6bWU=', cookie: 'a=b', 'x-service-api-key': 'svc_proj_1' } })
    const [search, bridge] = dashboard.asked
    expect(search!.headers.authorization).to.equal('Basic c2VhcmNoOnNlY3JldA==')
    expect(bridge!.headers).to.not.have.any.keys('authorization', 'cookie', 'x-service-api-key')
  })

  it('passes the tenant of the caller on', async () => {
    await call('/api/ticketing/api/incidents', { headers: { 'x-service-tenant-id': 'acme' } })
    await call('/api/ticketing/api/incidents')
    expect(dashboard.asked.map(({ headers }) => headers['x-service-tenant-id'])).to.deep.equal(['acme', undefined])
    expect(await call('/api/bridge/health', { headers: { 'x-service-tenant-id': 'No Tenant' } })).to.include({ status: 400 })
  })

  it('limits searches to the tenant that the caller names', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', 'x-service-tenant-id': 'acme' } }
    await call('/api/search/service-logs-*/_search', { ...init, body: '{"query":{"match":{"message":"paid"}}}' })
    const { body, url } = dashboard.asked[0]!
    expect(decodeURIComponent(url)).to.equal('/service-logs-*/_search')
    expect(JSON.parse(body)).to.deep.equal({
      query: { bool: { filter: [{ term: { tenant_id: 'acme' } }], must: [{ match: { message: 'paid' } }] } },
    })
    expect(await call('/api/search/service-incidents-other/_search', init)).to.include({ status: 403 })
    expect(await call('/api/search/_bulk', { ...init, body: '{}' })).to.include({ status: 403 })
  })

  it('gives logs to the tenant that the caller names, whatever they say themselves', async () => {
    const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
    const logs = (...attributes: object[]) => ({
      resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords: [{ body: { stringValue: 'hello' } }] }] }],
    })
    const body = JSON.stringify(logs(attribute('tenant.id', 'other'), attribute('batch_id', 'b')))
    const headers = { 'content-type': 'application/json', 'x-service-tenant-id': 'acme' }
    for (const sent of [body, gzipSync(body)]) {
      const packed = typeof sent === 'string' ? {} : { 'content-encoding': 'gzip' }
      const { status } = await call('/api/otel/v1/logs', { method: 'POST', headers: { ...headers, ...packed }, body: sent as string })
      expect(status).to.equal(200)
      const [asked] = dashboard.asked.slice(-1)
      expect(asked!.url).to.equal('/v1/logs')
      expect(JSON.parse(asked!.body)).to.deep.equal(logs(attribute('batch_id', 'b'), attribute('tenant_id', 'acme')))
    }
    const refused = await call('/api/otel/v1/logs', { method: 'POST', headers, body: '{"resourceLogs":5}' })
    expect(refused).to.include({ status: 400 })
    expect(refused.body).to.include({ code: 3 })
    expect(dashboard.asked).to.have.length(2)
  })

  it('drops hop-by-hop headers, and those that a connection names, but never the tenant', async () => {
    const sent = httpRequest(`${dashboard.url}/api/bridge/health`, {
      headers: { connection: 'x-mine, x-service-tenant-id', 'x-mine': '1', 'x-other': '2', te: 'trailers', 'x-service-tenant-id': 'acme' },
    })
    sent.end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    await textOf(answer)
    const { headers } = dashboard.asked[0]!
    expect(headers).to.include({ 'x-other': '2', 'x-service-tenant-id': 'acme' })
    expect(headers).to.not.have.any.keys('x-mine', 'te')
    expect(answer.headers).to.include({ 'x-own': 'bridge', 'x-frame-options': 'DENY' })
    expect(answer.headers).to.not.have.property('set-cookie')
  })

  it('answers 502 with error and status when a back end cannot be reached', async () => {
    await dashboard.stopBackend('bridge')
    const { status, body } = await call('/api/bridge/config', { method: 'PATCH', body: '{}' })
    expect(status).to.equal(502)
    expect(body).to.deep.equal({ error: 'the bridge cannot be reached', status: 502 })
  })

  it('answers 502 for API keys, too, when the search store cannot be reached', async () => {
    await dashboard.stop()
    const store = createSearchStore({ endpoint: 'http://127.0.0.1:1' })
    dashboard = await startDashboardFixture({
      routes: apiKeyRoutes({ keys: createApiKeyStore({ store, clock: systemClock }), clock: systemClock }),
    })
    const json = { headers: { 'content-type': 'application/json' } }
    for (const init of [{}, { ...json, method: 'POST', body: '{"name":"ci"}' }, { ...json, method: 'DELETE', body: '{"id":"1"}' }]) {
      const { status, body } = await call('/api/admin/api-keys', init)
      expect([status, body]).to.deep.equal([502, { error: 'the search store cannot be reached', status: 502 }])
    }
    await store.close()
  })

  it('answers 502 with an error that the request could not be forwarded to the collector', async () => {
    await dashboard.stopBackend('collector')
    const { status, body } = await call('/api/otel/v1/logs', { method: 'POST', body: '{}' })
    expect(status).to.equal(502)
    expect(body).to.deep.equal({ error: 'the request could not be forwarded to the collector', status: 502 })
  })

  it('answers 502 to an export in protobuf as a google.rpc.Status in protobuf', async () => {
    await dashboard.stopBackend('collector')
    for (const tenant of [{}, { 'x-service-tenant-id': 'acme' }]) {
      const headers = { 'content-type': 'application/x-protobuf', ...tenant }
      const response = await fetch(`${dashboard.url}/api/otel/v1/logs?a=b`, { method: 'POST', headers, body: new Uint8Array() })
      expect([response.status, response.headers.get('content-type')]).to.deep.equal([502, 'application/x-protobuf'])
      expect(decodeMessage('Status', Buffer.from(await response.arrayBuffer()))).to.include({
        code: 14,
        message: 'the request could not be forwarded to the collector',
      })
    }
    const other = await call('/api/otel/v1/traces', { method: 'POST', headers: { 'content-type': 'application/x-protobuf' } })
    expect(other.status).to.equal(404)
    expect(other.body).to.include({ status: 404 })
  })

  it('passes statuses and errors of back ends on as they are', async () => {
    dashboard.answer('ticketing', (_request, response) => {
      response.writeHead(409, { 'content-type': 'application/json' }).end('{"error":"illegal","status":409}')
    })
    expect(await call('/api/ticketing/api/incidents/1/resolve', { method: 'POST' })).to.deep.include({
      status: 409,
      body: { error: 'illegal', status: 409 },
    })
  })

  it('streams both ways', async () => {
    dashboard.answer('search', (request, response) => {
      response.writeHead(200)
      request.pipe(response)
    })
    const sent = httpRequest(`${dashboard.url}/api/search/_bulk`, { method: 'POST' })
    sent.write('first')
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const pieces = answer[Symbol.asyncIterator]()
    expect(String((await pieces.next()).value)).to.equal('first')
    sent.end('second')
    expect(String((await pieces.next()).value)).to.equal('second')
    expect((await pieces.next()).done).to.equal(true)
  })

  it('waits for an answer longer than for a request, which is there as a whole', async () => {
    await dashboard.stop()
    dashboard = await startDashboardFixture({ requestTimeoutMs: 20 })
    dashboard.answer('ticketing', (_, response) => void setTimeout(() => response.end('{"late":true}'), 100))
    for (const method of ['GET', 'POST'])
      expect((await call('/api/ticketing/api/v1/llm-status', { method })).body, method).to.deep.equal({ late: true })
  })

  it('waits for a back end that takes its time to read a request', async () => {
    await dashboard.stop()
    dashboard = await startDashboardFixture({ requestTimeoutMs: 1_000 })
    dashboard.answer('ticketing', (request, response) => {
      setTimeout(() => request.resume().once('end', () => response.end('{"late":true}')), 1_100)
    })
    const body = `"${'x'.repeat(16 << 20)}"`
    expect((await call('/api/ticketing/api/v1/analyze', { method: 'POST', body })).body).to.deep.equal({ late: true })
  })

  it('cuts a request whose caller takes too long to send it', async () => {
    await dashboard.stop()
    dashboard = await startDashboardFixture({ requestTimeoutMs: 20 })
    const slow = httpRequest(`${dashboard.url}/api/ticketing/api/v1/analyze`, { method: 'POST', headers: { 'content-length': 10 } })
    slow.write('{')
    const [error] = (await once(slow, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).to.equal('ECONNRESET')
  })

  it('lets a back end go whose caller hung up', async () => {
    const reached = Promise.withResolvers<IncomingMessage>()
    dashboard.answer('agent', request => reached.resolve(request))
    const sent = httpRequest(`${dashboard.url}/api/agent/metrics`)
    sent.on('error', () => undefined)
    sent.end()
    const { socket } = await reached.promise
    sent.destroy()
    await once(socket, 'close')
  })

  it('breaks the connection off when a back end breaks its answer off', async () => {
    dashboard.answer('agent', (_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy())
    })
    const error = await fetch(`${dashboard.url}/api/agent/metrics`)
      .then(response => response.text())
      .catch((failure: unknown) => failure)
    expect(error).to.be.instanceOf(Error)
  })

  /** The answer to a request as it stands there, which `fetch` would mend. */
  const raw = async (target: string): Promise<{ readonly status: number; readonly body: string }> => {
    const socket = connect(dashboard.port, '127.0.0.1')
    socket.end(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    let text = ''
    for await (const piece of socket) text += piece
    return { status: Number(text.split(' ')[1]), body: text.slice(text.indexOf('\r\n\r\n') + 4) }
  }

  for (const target of [
    '/api/bridge/../search/_cat/indices',
    '/api/bridge/%2e%2e/x',
    '/api/bridge/.%2e/x',
    '/api/bridge/..%2f..%2fetc',
    '/api/bridge/%5c..%5cx',
    '/api/bridge/a\\..\\b',
    '/api/bridge/.',
    '/api/bridge//x',
    '/api/bridge/%00',
    '/api/bridge/%0d%0aX: y',
    '/api/bridge/%zz',
    '/api/bridge/%c0%ae%c0%ae/',
    'http://169.254.169.254/latest',
    'http://127.0.0.1/api/bridge/health',
    '*',
  ])
    it(`refuses ${target}`, async () => {
      const { status, body } = await raw(target)
      expect(status).to.equal(400)
      expect(JSON.parse(body)).to.include({ status: 400 })
      expect(dashboard.asked).to.deep.equal([])
    })

  for (const path of [
    '/api/nothing',
    '/api/otel/v1/traces',
    '/api/otel',
    '/api/bridges/health',
    '/api/%62ridge/health',
    '/api',
    '/etc/passwd',
  ])
    it(`knows no ${path}`, async () => {
      expect(await call(path)).to.include({ status: 404 })
      expect(dashboard.asked).to.deep.equal([])
    })
})

describe('the health of the dashboard', () => {
  it('says which back ends answer, and is ok while the dashboard works itself', async () => {
    const dashboard = await startDashboardFixture()
    await dashboard.stopBackend('agent')
    const response = await fetch(`${dashboard.url}/health`)
    expect(response.status).to.equal(200)
    const others = { collector: 'connected', bridge: 'connected', search: 'connected', ticketing: 'connected' }
    expect(await response.json()).to.deep.equal({
      status: 'ok',
      backends: { ...others, agent: 'disconnected', scheduler: 'connected', features: 'connected' },
    })
    expect(await (await fetch(`${dashboard.url}/metrics`)).text()).to.contain('logpipeline_dashboard_requests_total')
    await dashboard.stop()
  })

  it('says of those that nobody has configured that they are not, unless they answer', async () => {
    const dashboard = await startDashboardFixture({ unconfigured: new Set(['scheduler', 'features']) })
    await dashboard.stopBackend('scheduler')
    const { backends } = (await (await fetch(`${dashboard.url}/health`)).json()) as { backends: Readonly<Record<string, string>> }
    expect([backends['scheduler'], backends['features']]).to.deep.equal(['not configured', 'connected'])
    await dashboard.stop()
  })
})
