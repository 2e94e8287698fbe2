import { mock } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { buildJson, buildPayload } from '../collector/testing/requests.ts'
import { type Harness, startHarness } from './testing/gateway-harness.ts'

interface Sent {
  readonly key?: string | undefined
  readonly path?: string
  readonly headers?: string
  readonly body?: string
}

/** A connection that keeps all that it receives. */
function open({ gateway, certificate }: Harness, protocols: string[] = ['http/1.1']) {
  const socket: TLSSocket = connect({ host: '127.0.0.1', port: gateway.port, ca: certificate.cert, ALPNProtocols: protocols })
  const state = { text: '', isClosed: false }
  socket.on('data', piece => {
    state.text += piece
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    state.isClosed = true
  })
  const statuses = () => [...state.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(match => Number(match[1]))
  return {
    socket,
    state,
    send: (text: string) => void socket.write(text, 'latin1'),
    /** The status of each answer, once there are so many of them or the connection has ended. */
    async answers(count: number) {
      while (statuses().length < count && !state.isClosed) await turn()
      return statuses()
    },
    async closed() {
      while (!state.isClosed) await turn()
    },
  }
}

const turn = () => new Promise(setImmediate)

describe('plain exports at the gateway of a standalone', () => {
  let harness: Harness
  const connections: ReturnType<typeof open>[] = []
  const begin = (protocols?: string[]) => {
    const connection = open(harness, protocols)
    connections.push(connection)
    return connection
  }
  before(async () => {
    harness = await startHarness({}, undefined, true)
  })
  after(() => harness.stop())
  beforeEach(() => harness.collector.bus.forget())
  afterEach(() => connections.splice(0).forEach(({ socket }) => void socket.destroy()))

  const json = (message: string, tenant = 'globex') => buildJson({ service: 'cart', messages: [message], tenant })
  const head = ({ key, path = '/v1/logs', headers = '' }: Sent, bodyBytes: number) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nX-Service-API-Key: ${key}\r\nContent-Type: application/json\r\n${headers}Content-Length: ${bodyBytes}\r\n\r\n`
  const request = (message: string, sent: Sent = {}) => {
    const body = sent.body ?? json(message)
    return head({ key: harness.key, ...sent }, body.length) + body
  }
  const messages = () =>
    harness.collector
      .payloads()
      .flatMap(({ key, payload }) => [...JSON.stringify(payload).matchAll(/"(m\d+)"/g)].map(([, message]) => `${key} ${message}`))
  const metric = async (labels: string) => {
    const text = await (await fetch(`http://127.0.0.1:${harness.gateway.healthPort}/metrics`)).text()
    return Number(new RegExp(`^logpipeline_gateway_requests_total\\{${labels}\\} (.*)$`, 'm').exec(text)?.[1] ?? 0)
  }

  for (const path of ['/v1/logs', '/api/otel/v1/logs'])
    it(`to ${path} get the tenant of the key, and are counted`, async () => {
      const before = await metric('to="collector",status="200"')
      const { send, answers, state } = begin()
      send(request('m1', { path }))
      expect(await answers(1)).to.deep.equal([200])
      expect(state.text).to.match(/\r\nDate: .* GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\n\r\n\{"partialSuccess":\{\}\}$/)
      expect(harness.collector.payloads()).to.deep.equal([
        { key: 'acme/cart', payload: buildPayload({ service: 'cart', messages: ['m1'], tenant: 'acme' }) },
      ])
      expect(await metric('to="collector",status="200"')).to.equal(before + 1)
    })

  it('are served without ALPN, too', async () => {
    const { send, answers } = begin([])
    send(request('m1') + request('m2'))
    expect(await answers(2)).to.deep.equal([200, 200])
  })

  it('are answered in their order when many are sent at once, each for the tenant of its own key', async () => {
    const { send, answers } = begin()
    const all = Array.from({ length: 20 }, (_, i) => request(`m${i}`, { key: i % 3 === 0 ? harness.foreignKey : harness.key }))
    send(all.join(''))
    expect(await answers(20)).to.deep.equal(Array(20).fill(200))
    expect(messages()).to.deep.equal(Array.from({ length: 20 }, (_, i) => `${i % 3 === 0 ? 'globex' : 'acme'}/cart m${i}`))
  })

  it('a key that is revoked between two requests of a connection: 401, and nothing more of its body is taken', async () => {
    const { id, key } = (await harness.keys.create('acme', 'short-lived'))!
    const { send, answers } = begin()
    send(request('m1', { key }))
    expect(await answers(1)).to.deep.equal([200])
    await harness.keys.revoke('acme', id)
    send(request('m2', { key }) + request('m3'))
    expect(await answers(3)).to.deep.equal([200, 401, 200])
    expect(messages()).to.deep.equal(['acme/cart m1', 'acme/cart m3'])
  })

  for (const [name, lines] of Object.entries({
    'no key': '',
    'an unknown key': `x-service-api-key: svc_proj_${'0'.repeat(64)}\r\n`,
    'two keys': 'x-service-api-key: KEY\r\nx-service-api-key: KEY\r\n',
    'a key under another spelling of the name': 'x_service_api_key: KEY\r\n',
  }))
    it(`401 for ${name}, before a body comes`, async () => {
      const { send, answers } = begin()
      send(`POST /v1/logs HTTP/1.1\r\nHost: a\r\n${lines.replaceAll('KEY', harness.key)}Content-Length: 1000\r\n\r\n`)
      expect(await answers(1)).to.deep.equal([401])
    })

  it('other requests on the connection are served as before, and plain ones behind them', async () => {
    const { send, answers } = begin()
    const chunked = `${
      request('m2')
        .replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked')
        .split('\r\n\r\n', 1)[0]
    }\r\n\r\n`
    const parts = [
      request('m1'),
      `${chunked}${json('m2').length.toString(16)}\r\n${json('m2')}\r\n0\r\n\r\n`,
      `GET /health HTTP/1.1\r\nHost: a\r\nx-service-api-key: ${harness.key}\r\n\r\n`,
      request('m3'),
      request('m4', { path: '/v1/logs?x=1' }),
      request('m5', { headers: 'Connection: close\r\n' }),
    ]
    send(parts.join(''))
    expect(await answers(6)).to.deep.equal([200, 200, 200, 200, 200, 200])
    expect(messages()).to.deep.equal([1, 2, 3, 4, 5].map(i => `acme/cart m${i}`))
  })

  it('two lengths, a length beside chunks, a space before a colon: 400, and nothing is taken', async () => {
    for (const headers of ['Content-Length: 2\r\n', 'Transfer-Encoding: chunked\r\n', 'X-A : b\r\n']) {
      const { send, answers } = begin()
      send(request('m0') + request('m1', { headers }))
      expect((await answers(2)).slice(0, 2)).to.deep.equal([200, 400])
    }
    expect(messages()).to.deep.equal(['acme/cart m0', 'acme/cart m0', 'acme/cart m0'])
  })

  it('Expect: 100-continue is answered once the key is known to be good', async () => {
    const { send, answers } = begin()
    send(request('m0'))
    await answers(1)
    send(head({ key: harness.key, headers: 'Expect: 100-continue\r\n' }, json('m1').length))
    expect(await answers(2)).to.deep.equal([200, 100])
    send(json('m1'))
    expect(await answers(3)).to.deep.equal([200, 100, 200])
    const other = begin()
    other.send(head({ key: `svc_proj_${'0'.repeat(64)}`, headers: 'Expect: 100-continue\r\n' }, 10))
    expect(await other.answers(1)).to.deep.equal([401])
  })

  for (const pieces of [2, 3, 7, 40])
    it(`a request that comes in ${pieces} pieces`, async () => {
      const { socket, send, answers } = begin()
      socket.setNoDelay()
      send(request('m0'))
      await answers(1)
      const text = request('m1')
      const step = Math.ceil(text.length / pieces)
      for (let at = 0; at < text.length; at += step) {
        send(text.slice(at, at + step))
        for (let i = 0; i < 20; i++) await turn()
      }
      expect(await answers(2)).to.deep.equal([200, 200])
      expect(messages()).to.deep.equal(['acme/cart m0', 'acme/cart m1'])
    })

  it('a body of several megabytes, and another request behind it', async () => {
    const { send, answers } = begin()
    const many = buildJson({ service: 'cart', messages: Array.from({ length: 30 }, () => 'x'.repeat(100_000)) })
    send(request('', { body: many }) + request('m2'))
    expect(await answers(2)).to.deep.equal([200, 200])
    expect(messages().at(-1)).to.equal('acme/cart m2')
  })

  it('refusals: 400, 413 and 415 as before, on a connection that stays', async () => {
    const { send, answers } = begin()
    send(request('m1', { body: '{' }) + request('m2', { headers: 'Content-Encoding: br\r\n' }) + request('m3'))
    expect(await answers(3)).to.deep.equal([400, 415, 200])
    const large = begin()
    large.send(head({ key: harness.key }, (4 << 20) + 1))
    expect(await large.answers(1)).to.deep.equal([413])
  })

  it('a client that is gone in the middle of a body: nothing is taken', async () => {
    const before = await metric('to="collector",status="400"')
    const { send, answers, socket, closed } = begin()
    send(request('m0') + request('m1').slice(0, -5))
    await answers(1)
    socket.destroy()
    await closed()
    while ((await metric('to="collector",status="400"')) === before) await turn()
    expect(messages()).to.deep.equal(['acme/cart m0'])
  })

  it('a client that ends its side in the middle of a body: 400', async () => {
    const { send, answers, socket } = begin()
    send(request('m0'))
    await answers(1)
    send(request('m1').slice(0, -5))
    socket.end()
    expect(await answers(2)).to.deep.equal([200, 400])
    expect(messages()).to.deep.equal(['acme/cart m0'])
  })

  it('requests wait while keys are looked up, and a client that hangs up meanwhile leaves nothing', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const find = async (hash: string) => {
      await promise
      return harness.keys.find(hash)
    }
    const slow = await startHarness({ keys: { ...harness.keys, find } }, undefined, true)
    try {
      const [gone, stays] = [open(slow), open(slow)]
      for (const { send } of [gone, stays]) send(request('m1', { key: harness.key }) + request('m2', { key: harness.key }))
      await new Promise(done => stays.socket.once('secureConnect', done))
      gone.socket.destroy()
      await gone.closed()
      resolve()
      expect(await stays.answers(2)).to.deep.equal([200, 200])
      stays.socket.destroy()
    } finally {
      await slow.stop()
    }
  })
})

describe('plain exports at the gateway of a standalone, within bounds', () => {
  let harness: Harness
  afterEach(() => harness.stop())
  const body = buildJson({ service: 'cart', messages: ['m1'] })
  const head = (bodyBytes = body.length) =>
    `POST /v1/logs HTTP/1.1\r\nHost: a\r\nx-service-api-key: ${harness.key}\r\nContent-Type: application/json\r\nContent-Length: ${bodyBytes}\r\n\r\n`

  it('429 beyond the rate of a key, on one connection and many', async () => {
    const clock = createFakeClock(Date.UTC(2026, 0, 1))
    harness = await startHarness({ requestsPerSecond: 2, clock }, undefined, true)
    const { send, answers, socket, state } = open(harness)
    send(`${head()}${body}`.repeat(6))
    expect(await answers(6)).to.deep.equal([200, 200, 200, 200, 429, 429])
    expect(state.text).to.match(/\r\nretry-after: 1\r\n/)
    const other = open(harness)
    other.send(`${head()}${body}`)
    expect(await other.answers(1)).to.deep.equal([429])
    for (const each of [socket, other.socket]) each.destroy()
  })

  it('429 when memory is short, which takes one of the requests of the key alone', async () => {
    const clock = createFakeClock(Date.UTC(2026, 0, 1))
    harness = await startHarness({ requestsPerSecond: 2, maxPendingBytes: 1_000, clock }, undefined, true)
    const holding = open(harness)
    holding.send(`${head(100_000)}${'x'.repeat(5_000)}`)
    await new Promise(resolve => setTimeout(resolve, 50))
    const { send, answers, socket } = open(harness)
    send(`${head()}${body}`)
    expect(await answers(1)).to.deep.equal([429])
    holding.socket.destroy()
    await holding.closed()
    await new Promise(resolve => setTimeout(resolve, 50))
    send(`${head()}${body}`.repeat(3))
    // Four at once: the one that hung up, the one without room, and two more.
    expect(await answers(4)).to.deep.equal([429, 200, 200, 429])
    socket.destroy()
  })

  it('408 for a body that is not whole after 120 s, and its memory is free again', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const clock = createFakeClock(Date.UTC(2026, 0, 1))
    try {
      harness = await startHarness({ maxPendingBytes: 1_000, clock }, undefined, true)
      const { send, answers, state, closed } = open(harness)
      send(`${head()}${body}`)
      expect(await answers(1)).to.deep.equal([200])
      send(`${head(100_000)}${'x'.repeat(5_000)}`)
      await new Promise(resolve => setTimeout(resolve, 50))
      const pass = (ms: number) => {
        clock.advance(ms)
        mock.timers.tick(5_000)
      }
      pass(119_999)
      await turn()
      expect(state.isClosed).to.equal(false)
      pass(1)
      expect(await answers(2)).to.deep.equal([200, 408])
      expect(state.text).to.match(/"status":408,"code":4,"message":/)
      await closed()
    } finally {
      mock.timers.reset()
    }
    const { send, answers, socket } = open(harness)
    send(`${head()}${body}`)
    expect(await answers(1)).to.deep.equal([200])
    socket.destroy()
  })

  it('stop ends a connection without a request', async () => {
    harness = await startHarness({}, undefined, true)
    const { send, answers, closed } = open(harness)
    send(`${head()}${body}`)
    expect(await answers(1)).to.deep.equal([200])
    await harness.gateway.stop()
    await closed()
  })
})
