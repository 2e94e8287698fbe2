import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { mock } from 'node:test'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { type Harness, startHarness } from '../testing/collector-harness.ts'
import { buildJson } from '../testing/requests.ts'

const HEAD = 'POST /v1/logs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
const plainRequest = (message: string) => {
  const body = buildJson({ service: 'cart', messages: [message] })
  return `${HEAD}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

describe('requests on one connection', () => {
  let harness: Harness
  beforeEach(async () => {
    harness = await startHarness()
  })
  afterEach(() => harness.collector.stop())

  /** Sends the parts in turn, each after `expected` answers to those before; gives the answers' status codes and all text. */
  async function talk(parts: readonly { readonly send: string; readonly answers: number }[], end = false) {
    const socket = connect(harness.httpPort, '127.0.0.1')
    let text = ''
    const statuses = () => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(match => Number(match[1]))
    let closed = false
    socket.on('data', data => (text += data))
    socket.on('close', () => (closed = true))
    let expected = 0
    for (const { send, answers } of parts) {
      socket.write(send)
      expected += answers
      while (statuses().length < expected && !closed) await new Promise(setImmediate)
    }
    if (end) socket.end()
    while (end && !closed) await new Promise(setImmediate)
    socket.destroy()
    return { statuses: statuses(), text }
  }
  const bodies = () =>
    harness.payloads().flatMap(
      ({ payload }) =>
        JSON.stringify(payload)
          .match(/"m\d+"/g)
          ?.map(match => match.slice(1, -1)) ?? [],
    )

  it('one after the other, answered in their order', async () => {
    const { statuses, text } = await talk([
      { send: plainRequest('m1'), answers: 1 },
      { send: plainRequest('m2'), answers: 1 },
    ])
    expect(statuses).to.deep.equal([200, 200])
    expect(bodies()).to.deep.equal(['m1', 'm2'])
    expect(text).to.match(/\r\nDate: .* GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\n\r\n\{"partialSuccess":\{\}\}HTTP/)
  })

  it('by a page: taken, unless its name may be one of others that they led to this machine', async () => {
    const of = (message: string, host: string, headers = '') =>
      plainRequest(message).replace('Host: a\r\n', `Host: ${host}:4318\r\nOrigin: http://${host}:4318\r\n${headers}`)
    const statuses = []
    let text = ''
    for (const send of [
      of('m1', 'evil.example'),
      of('m2', 'evil.example', 'X-Forwarded-Host: evil.example:4318\r\n'),
      of('m3', 'localhost'),
      of('m4', 'app.example', 'Sec-Fetch-Site: same-origin\r\n'),
    ]) {
      const answer = await talk([{ send: plainRequest('m0') + send, answers: 2 }])
      statuses.push(answer.statuses)
      text += answer.text
    }
    expect(statuses).to.deep.equal([403, 403, 200, 200].map(status => [200, status]))
    expect(bodies().filter(body => body !== 'm0')).to.deep.equal(['m3', 'm4'])
    expect(text).to.include('"code":7,"message":"host: expected localhost or an address')
  })

  it('many sent without waiting for answers', async () => {
    const all = Array.from({ length: 20 }, (_, i) => plainRequest(`m${i}`)).join('')
    const { statuses } = await talk([{ send: all, answers: 20 }])
    expect(statuses).to.deep.equal(Array(20).fill(200))
    expect(bodies()).to.deep.equal(Array.from({ length: 20 }, (_, i) => `m${i}`))
  })

  it('a refused one between accepted ones', async () => {
    const wrong = `${HEAD}Content-Length: 1\r\n\r\n{`
    const { statuses } = await talk([{ send: plainRequest('m1') + wrong + plainRequest('m2'), answers: 3 }])
    expect(statuses).to.deep.equal([200, 400, 200])
  })

  for (const pieces of [2, 3, 7])
    it(`a request that comes in ${pieces} pieces`, async () => {
      const request = plainRequest('m1')
      const step = Math.ceil(request.length / pieces)
      const socket = connect(harness.httpPort, '127.0.0.1').setNoDelay()
      for (let at = 0; at < request.length; at += step) {
        socket.write(request.slice(at, at + step))
        for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
      }
      const answer = await new Promise<Buffer>(resolve => socket.once('data', resolve))
      socket.destroy()
      expect(answer.toString()).to.match(/^HTTP\/1\.1 200 OK\r\n/)
      expect(bodies()).to.deep.equal(['m1'])
    })

  it('a body of several megabytes', async () => {
    const large = 'z'.repeat(2_500_000)
    const { statuses } = await talk([{ send: plainRequest(large) + plainRequest('m2'), answers: 2 }])
    expect(statuses).to.deep.equal([200, 200])
    expect(bodies()).to.deep.equal(['m2']) // the large record is larger than a bus message
  })

  const chunked = (message: string) => {
    const body = buildJson({ messages: [message] })
    return `${HEAD}Transfer-Encoding: chunked\r\n\r\n${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`
  }
  it('plain and other requests by turns', async () => {
    const { statuses } = await talk([
      { send: plainRequest('m1'), answers: 1 },
      { send: chunked('m2'), answers: 1 },
      { send: 'GET /v1/logs HTTP/1.1\r\nHost: a\r\n\r\n', answers: 1 },
      { send: plainRequest('m3'), answers: 1 },
    ])
    expect(statuses).to.deep.equal([200, 200, 405, 200])
    expect(bodies()).to.deep.equal(['m1', 'm2', 'm3'])
  })

  it('with the whole address as its target, as one sends it that takes the server for a proxy', async () => {
    const { statuses } = await talk([
      { send: plainRequest('m1').replace('/v1', 'http://a:4318/v1'), answers: 1 },
      { send: plainRequest('m2'), answers: 1 },
      { send: plainRequest('m3').replace('/v1', 'http://a:4318/v2'), answers: 1 },
    ])
    expect(statuses).to.deep.equal([200, 200, 404])
    expect(bodies()).to.deep.equal(['m1', 'm2'])
  })

  it('plain and other requests sent at once are answered in their order', async () => {
    const { statuses } = await talk([
      { send: `${plainRequest('m1')}${chunked('m2')}GET /v1/logs HTTP/1.1\r\nHost: a\r\n\r\n${plainRequest('m3')}`, answers: 4 },
    ])
    expect(statuses).to.deep.equal([200, 200, 405, 200])
    expect(bodies()).to.deep.equal(['m1', 'm2', 'm3'])
  })

  it('Expect: 100-continue', async () => {
    const body = buildJson({ messages: ['m1'] })
    const { statuses } = await talk([
      { send: plainRequest('m0'), answers: 1 },
      { send: `${HEAD}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`, answers: 1 },
      { send: body, answers: 1 },
    ])
    expect(statuses).to.deep.equal([200, 100, 200])
  })

  it('Connection: close ends the connection after the answer', async () => {
    const { text } = await talk([{ send: plainRequest('m1').replace('Host: a', 'Host: a\r\nConnection: close'), answers: 1 }], true)
    expect(text).to.match(/^HTTP\/1\.1 200 OK\r\n/)
    expect(text).to.contain('Connection: close')
  })

  it('a client that ends its side still gets the answer', async () => {
    const release = harness.bus.hold()
    const done = talk([{ send: plainRequest('m1'), answers: 0 }], true)
    while (harness.bus.waitingSends === 0) await new Promise(setImmediate)
    release()
    expect((await done).statuses).to.deep.equal([200])
  })

  it('a body cut off by the end of the connection: 400', async () => {
    const { statuses } = await talk([{ send: plainRequest('m1').slice(0, -5), answers: 0 }], true)
    expect(statuses).to.deep.equal([400])
    expect(harness.bus.sent).to.have.length(0)
  })

  it('two lengths, a length that is none, no host: 400', async () => {
    const body = buildJson({ messages: ['m1'] })
    for (const headers of [`Content-Length: ${body.length}\r\nContent-Length: 2\r\n`, 'Content-Length: +5\r\n', 'Content-Length : 5\r\n'])
      expect((await talk([{ send: `${HEAD}${headers}\r\n${body}`, answers: 1 }])).statuses[0]).to.equal(400)
    const noHost = plainRequest('m1').replace('Host: a\r\n', '')
    expect((await talk([{ send: noHost, answers: 1 }])).statuses).to.deep.equal([400])
    expect(harness.bus.sent).to.have.length(0)
  })

  it('stop: the 503 to a request that was coming says that its connection closes, while others are still answered', async () => {
    const release = harness.bus.hold()
    const underWay = harness.post(buildJson({ service: 'cart', messages: ['m0'] }))
    const socket = connect(harness.httpPort, '127.0.0.1')
    let received = ''
    socket.on('data', data => (received += data))
    const request = plainRequest('m1')
    socket.write(request.slice(0, -5))
    while (harness.bus.waitingSends === 0) await new Promise(setImmediate)
    const stopped = harness.collector.stop()
    socket.write(request.slice(-5))
    while (received === '') await new Promise(setImmediate)
    expect(received).to.match(/^HTTP\/1\.1 503 [\s\S]*\r\nConnection: close\r\n/i)
    release()
    expect((await underWay).status).to.equal(200)
    await stopped
  })

  it('stop closes connections without a request', async () => {
    const socket = connect(harness.httpPort, '127.0.0.1')
    socket.write(plainRequest('m1'))
    await new Promise(resolve => socket.once('data', resolve))
    const closed = new Promise(resolve => socket.once('close', resolve))
    await harness.collector.stop()
    await closed
  })
})

describe('connections without progress', () => {
  const clock = createFakeClock(Date.UTC(2026, 0, 1))
  let harness: Harness
  let socket: Socket
  let received = ''
  let closed: Promise<unknown>
  beforeEach(async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    harness = await startHarness({}, clock)
    received = ''
    socket = connect(harness.httpPort, '127.0.0.1')
    socket.on('data', data => (received += data))
    closed = new Promise(resolve => socket.once('close', resolve))
    await new Promise(resolve => socket.once('connect', resolve))
    await harness.post('{}') // by now the server knows the connection
  })
  afterEach(async () => {
    mock.timers.reset()
    socket.destroy()
    await harness.collector.stop()
  })
  const pass = (ms: number) => {
    clock.advance(ms)
    mock.timers.tick(5_000)
  }
  const answer = async () => {
    while (received === '') await new Promise(setImmediate)
    return received
  }

  it('408 for a body that is not complete after 30 s', async () => {
    socket.write(`${HEAD}Content-Length: 100\r\n\r\n{`)
    while ((await pendingBytes(harness)) === 0) await new Promise(setImmediate)
    pass(29_999)
    expect(received).to.equal('')
    pass(1)
    await closed
    expect(received)
      .to.match(/^HTTP\/1\.1 408 /)
      .and.to.match(/"status":408,"code":4,"message":/)
    expect(await pendingBytes(harness)).to.equal(0)
  })

  it('an idle connection is closed after 65 s', async () => {
    socket.write(plainRequest('m1'))
    await answer()
    pass(64_999)
    socket.write(plainRequest('m2'))
    while (harness.bus.sent.length < 2) await new Promise(setImmediate)
    await new Promise(setImmediate)
    pass(65_000)
    await closed
  })

  it('a request is served when the time of day is set an hour ahead within it', async () => {
    let setAheadMs = 0
    const other = await startHarness({}, { ...clock, nowMs: () => clock.nowMs() + setAheadMs, monotonicMs: clock.nowMs })
    const sender = connect(other.httpPort, '127.0.0.1')
    try {
      const request = plainRequest('m1')
      sender.write(request.slice(0, -1))
      while ((await pendingBytes(other)) === 0) await new Promise(setImmediate)
      setAheadMs = 3_600_000
      mock.timers.tick(5_000)
      sender.write(request.slice(-1))
      const [data] = (await once(sender, 'data')) as [Buffer]
      expect(data.toString('latin1')).to.match(/^HTTP\/1\.1 200 /)
    } finally {
      sender.destroy()
      await other.collector.stop()
    }
  })

  it('a connection that says nothing at first is served later', async () => {
    pass(5_000)
    socket.write(plainRequest('m1'))
    expect(await answer()).to.match(/^HTTP\/1\.1 200 /)
  })
})

async function pendingBytes({ healthUrl }: Harness): Promise<number> {
  const text = await (await fetch(`${healthUrl}/metrics`)).text()
  return Number(/^service_collector_pending_bytes (.*)$/m.exec(text)![1])
}
