import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { z } from 'zod'
import { BodyMemory } from '../limits/body-memory.ts'
import { SearchStoreUnavailable, VersionConflict } from '../ports/search-store.ts'
import { SILENT } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { createControlApp } from './control-app.ts'
import { MEMORY_ERRORS } from './control-request.ts'
import { route } from './route.ts'
import { type HttpServer, startHttpServer } from './server.ts'

const echo = route({
  method: 'PATCH',
  path: '/things/:id',
  query: z.strictObject({ dry: z.enum(['yes', 'no']).optional() }),
  body: z.strictObject({ count: z.int().min(1).max(9), name: z.string().optional() }),
  handle: ({ params, query, body, tenant }) => ({ body: { id: params['id'], query, body, tenant: tenant ?? null } }),
})
const failing = (path: string, error: Error) =>
  route({
    method: 'GET',
    path,
    handle() {
      throw error
    },
  })

const ROUTES = [
  echo,
  route({ method: 'GET', path: '/things/:id', handle: () => ({ status: 202, headers: { 'x-next-cursor': 'n' }, body: [] }) }),
  failing('/broken', new Error('secret detail')),
  failing('/unavailable', new SearchStoreUnavailable('connect ECONNREFUSED')),
  failing('/full', new SearchStoreUnavailable('cluster_block_exception', { isDiskFull: true })),
  failing('/overtaken', new VersionConflict('i', 'x')),
]

describe('HTTP conventions', () => {
  let server: HttpServer
  let large: HttpServer | undefined
  let healthy = true
  const url = (path: string) => `http://127.0.0.1:${server.port}${path}`
  const patch = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, path = '/things/a') =>
    fetch(url(path), { method: 'PATCH', body, headers: { 'content-type': 'application/json', ...headers } })

  before(async () => {
    const health = () => ({ status: healthy ? 'ok' : 'error', detail: 1 })
    const app = createControlApp({ routes: ROUTES, log: SILENT, metrics: createMetrics(), health, maxBodyBytes: 2000 })
    server = await startHttpServer(app, { host: '127.0.0.1', port: 0, setting: 'TEST_PORT' })
  })
  after(async () => {
    await server.stop()
    await large?.stop(0)
  })

  it("GET /health answers the component's own account, 503 when it is not ok", async () => {
    const answer = await fetch(url('/health'))
    expect(answer.status).to.equal(200)
    expect(await answer.json()).to.deep.equal({ status: 'ok', detail: 1 })
    healthy = false
    expect((await fetch(url('/health'))).status).to.equal(503)
    healthy = true
  })

  it('GET /metrics answers the Prometheus text format', async () => {
    const answer = await fetch(url('/metrics'))
    expect(answer.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/)
  })

  it('hands the handler path, query, body and tenant', async () => {
    const answer = await patch('{"count":3}', { 'x-service-tenant-id': 'acme' }, '/things/a%2Fb?dry=yes')
    expect(await answer.json()).to.deep.equal({ id: 'a/b', query: { dry: 'yes' }, body: { count: 3 }, tenant: 'acme' })
    expect(answer.headers.get('x-powered-by')).to.equal(null)
  })

  it('holds bodies within the memory for them: one that does not come on goes when others need its memory', async () => {
    let nowMs = 0
    const bodies = new BodyMemory(1_600, MEMORY_ERRORS, () => nowMs)
    const app = createControlApp({ routes: ROUTES, log: SILENT, metrics: createMetrics(), bodies })
    const other = await startHttpServer(app, { host: '127.0.0.1', port: 0, setting: 'TEST_PORT' })
    const slow = connect(other.port, '127.0.0.1')
    try {
      slow.write(
        `PATCH /things/a HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2000\r\n\r\n${' '.repeat(1_200)}`,
      )
      while (bodies.usedBytes < 1_200) await new Promise(setImmediate)
      const send = async () =>
        (
          await fetch(`http://127.0.0.1:${other.port}/things/a`, {
            method: 'PATCH',
            body: `{"count":3}${' '.repeat(500)}`,
            headers: { 'content-type': 'application/json' },
          })
        ).status
      expect(await send()).to.equal(429)
      nowMs = 5_000
      expect(await send()).to.equal(200)
      expect(String((await once(slow, 'data'))[0])).to.match(/^HTTP\/1\.1 429 .*\r\nretry-after: 1\r\n.*the body came too slowly/is)
      expect(bodies.usedBytes).to.equal(0)
    } finally {
      slow.destroy()
      await other.stop(0)
    }
  })

  it('refuses what a page of another site would change', async () => {
    const answer = await patch('{"count":3}', { origin: 'https://evil.example' })
    expect([answer.status, ((await answer.json()) as { error: string }).error]).to.deep.equal([
      403,
      'origin: expected a program, or a page of this address, seen a page of another site',
    ])
    expect((await fetch(url('/things/a'), { headers: { origin: 'https://evil.example' } })).status).to.equal(202)
  })

  it('sends status and headers of the answer', async () => {
    const answer = await fetch(url('/things/a'))
    expect([answer.status, answer.headers.get('x-next-cursor')]).to.deep.equal([202, 'n'])
  })

  const errors: readonly { name: string; send: () => Promise<Response>; status: number; error: string | RegExp }[] = [
    { name: 'malformed JSON', send: () => patch('{"count":'), status: 400, error: /^body: expected JSON, seen / },
    { name: 'bytes that are not UTF-8', send: () => patch(new Uint8Array([0x22, 0xff, 0x22])), status: 400, error: /UTF-8/ },
    { name: 'no body where one is needed', send: () => patch(''), status: 400, error: 'body: expected object, seen nothing' },
    {
      name: 'all problems in one message, each naming its field',
      send: () => patch('{"count":12,"name":5,"extra":1,"__proto__":{}}'),
      status: 400,
      error: 'count: expected number to be <=9, seen 12; name: expected string, seen 5; extra: unknown field; __proto__: unknown field',
    },
    {
      name: 'an unknown value of a parameter',
      send: () => patch('{"count":1}', {}, '/things/a?dry=maybe'),
      status: 400,
      error: 'dry: expected one of yes, no, seen "maybe"',
    },
    { name: 'an unknown parameter', send: () => fetch(url('/things/a?x=1')), status: 400, error: 'x: unknown field' },
    { name: 'a parameter given twice', send: () => fetch(url('/things/a?x=1&x=2')), status: 400, error: 'x: given more than once' },
    {
      name: 'more problems than an answer names: the first hundred, and how many more',
      send: () => patch(`{"count":1,${Array.from({ length: 130 }, (_none, at) => `"x${at}":0`).join()}}`),
      status: 400,
      error: /^(x\d+: unknown field; ){100}and 30 more$/,
    },
    {
      name: 'a name of a thousand characters, of which a hundred with the mark of the cut are told',
      send: () => patch(`{"count":1,"${'n'.repeat(1_000)}":0}`),
      status: 400,
      error: /^n{99}…: unknown field$/,
    },
    {
      name: 'a text in a message, up to so many characters',
      send: () => patch('{}', { 'content-type': 'n'.repeat(12_000) }),
      status: 415,
      error: /^content-type: expected application\/json, seen n+… \(\d+ more characters\)$/,
    },
    { name: 'nesting of 101 levels', send: () => patch('['.repeat(101) + ']'.repeat(101)), status: 400, error: /100 levels/ },
    { name: 'a malformed path', send: () => fetch(url('/things/%zz')), status: 400, error: /malformed request/ },
    {
      name: 'a tenant header that is no tenant id',
      send: () => patch('{"count":1}', { 'x-service-tenant-id': 'A_b' }),
      status: 400,
      error: 'x-service-tenant-id: expected a tenant id, seen "A_b"',
    },
    { name: 'a path in other letters', send: () => fetch(url('/Health')), status: 404, error: 'no such path: /Health' },
    { name: 'an unknown path', send: () => fetch(url('/nowhere')), status: 404, error: 'no such path: /nowhere' },
    {
      name: 'another content type',
      send: () => patch('a=1', { 'content-type': 'application/x-www-form-urlencoded' }),
      status: 415,
      error: 'content-type: expected application/json, seen application/x-www-form-urlencoded',
    },
    { name: 'a compressed body', send: () => patch('{}', { 'content-encoding': 'gzip' }), status: 415, error: /content-encoding/ },
    { name: 'a body over the limit', send: () => patch('"'.padEnd(5000)), status: 413, error: 'body: expected at most 2000 bytes' },
    {
      name: 'a search store that is away',
      send: () => fetch(url('/unavailable')),
      status: 503,
      error: 'the search store cannot be reached',
    },
    {
      name: 'a search store whose disk is full',
      send: () => fetch(url('/full')),
      status: 503,
      error: 'the search store cannot write to its disk',
    },
    { name: 'a version conflict', send: () => fetch(url('/overtaken')), status: 409, error: /changed by somebody else/ },
    { name: 'an error of our own', send: () => fetch(url('/broken')), status: 500, error: 'internal error' },
  ]
  for (const { name, send, status, error } of errors) {
    it(`${status} for ${name}`, async () => {
      const answer = await send()
      const body = (await answer.json()) as { error: string; status: number }
      expect(Object.keys(body)).to.deep.equal(['error', 'status'])
      expect([answer.status, body.status]).to.deep.equal([status, status])
      if (typeof error === 'string') expect(body.error).to.equal(error)
      else expect(body.error).to.match(error)
    })
  }

  it('a body without a content type is read as JSON: a documented call of Feast has none', async () => {
    const socket = connect(server.port, '127.0.0.1')
    socket.write('PATCH /things/a HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{"count":3}')
    let text = ''
    for await (const piece of socket) text += piece
    expect(text).to.match(/^HTTP\/1\.1 200 /)
    expect(text).to.include('"body":{"count":3}')
  })

  it('an expectation that nobody knows is passed over', async () => {
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET /things/a HTTP/1.1\r\nHost: a\r\nExpect: the-impossible\r\nConnection: close\r\n\r\n')
    let text = ''
    for await (const piece of socket) text += piece
    expect(text).to.match(/^HTTP\/1\.1 202 /)
  })

  it('400 for more values than a control request has, before any of them is looked at', async () => {
    const app = createControlApp({ routes: [echo], log: SILENT, metrics: createMetrics() })
    large = await startHttpServer(app, { host: '127.0.0.1', port: 0, setting: 'TEST_PORT' })
    const send = async (body: string) => {
      const init = { method: 'PATCH', body, headers: { 'content-type': 'application/json', connection: 'close' } }
      const answer = await fetch(`http://127.0.0.1:${large?.port}/things/a`, init)
      return [answer.status, ((await answer.json()) as { error: string }).error]
    }
    const most = `[${Array(100_000).fill('",,"').join()}]`
    expect(await send(most)).to.deep.equal([400, 'body: expected object, seen an array of 100000'])
    expect(await send(most.replace(']', ',0]'))).to.deep.equal([400, 'body: expected at most 100000 values'])
  })

  it('405 with Allow for a known path', async () => {
    const answer = await fetch(url('/things/a'), { method: 'DELETE' })
    expect([answer.status, answer.headers.get('allow')]).to.deep.equal([405, 'PATCH, GET, HEAD'])
    expect((await fetch(url('/health'), { method: 'POST' })).headers.get('allow')).to.equal('GET, HEAD')
  })

  it('413 for a chunked body over the limit, which a slow reader still gets to see', async () => {
    const body = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 100; i++) controller.enqueue(new Uint8Array(1000))
        controller.close()
      },
    })
    const init = { method: 'PATCH', body, duplex: 'half', headers: { 'content-type': 'application/json' } }
    expect((await fetch(url('/things/a'), init as RequestInit)).status).to.equal(413)
  })

  it('survives a caller that hangs up mid-body', async () => {
    await new Promise<void>(resolve => {
      const socket = connect(server.port, '127.0.0.1', () => {
        socket.write('PATCH /things/a HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"cou', () => {
          socket.destroy()
          resolve()
        })
      })
    })
    expect((await fetch(url('/health'))).status).to.equal(200)
  })

  it('says which setting to change when the port is taken', async () => {
    const error = await startHttpServer(() => {}, { host: '127.0.0.1', port: server.port, setting: 'TICKETING_PORT' }).catch(
      reason => reason,
    )
    expect(error.message).to.equal(`TICKETING_PORT: cannot listen on 127.0.0.1:${server.port}: another program listens there`)
  })
})
