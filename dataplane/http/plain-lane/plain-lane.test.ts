import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { mock } from 'node:test'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { type HttpServer, startHttpServer } from '../server.ts'
import type { PlainAnswer } from './answer-writer.ts'
import { PlainBody } from './plain-body.ts'
import { type PlainForm, type PlainHead, PlainHeads, parsePlainHead } from './plain-head.ts'
import { createPlainLane } from './plain-lane.ts'
import type { PlainHandler } from './plain-receiver.ts'

const LINE = 'POST /things HTTP/1.1\r\n'
const FORM: PlainForm = { requestLines: ['POST /others HTTP/1.1\r\n', LINE], wantedHeader: 'x-key' }
const HEAD = `${LINE}Host: a\r\nContent-Type: application/json\r\n`
const requestOf = (body: string) => `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`
const REQUEST = requestOf('{}')
const answerOf = (text: string): PlainAnswer => ({ status: 200, headers: { 'content-length': `${text.length}` }, body: Buffer.from(text) })
const DONE = answerOf('done')

describe('a plain lane before a server', () => {
  let server: HttpServer
  let limit: number
  let cut: number
  /** Answers with the body, up to `limit` bytes of a request. */
  const handler: PlainHandler = ({ bodyBytes, contentType }) => {
    if (contentType !== 'application/json') return undefined
    let left = limit
    return {
      grow(bytes) {
        left -= bytes
        return left >= 0
      },
      end: (body, answer) => answer(answerOf(`lane ${bodyBytes} ${Buffer.from(body).toString()};`)),
      cut: () => cut++,
    }
  }
  beforeEach(async () => {
    limit = 1_000
    cut = 0
    const lane = createPlainLane({ paths: ['/things'], createHandler: () => handler, nowMs: () => 0, onError: () => undefined })
    const node = async (request: IncomingMessage, response: ServerResponse) => {
      let text = ''
      for await (const chunk of request as AsyncIterable<Buffer>) text += chunk.toString()
      response.end(`node ${text};`)
    }
    server = await startHttpServer(node, { host: '127.0.0.1', port: 0, setting: 'PORT' }, lane)
  })
  afterEach(() => server.stop(0))

  /** Sends it, and gives the bodies of the answers once so many are there. */
  async function answersTo(text: string, count: number): Promise<readonly string[]> {
    const socket = connect(server.port, '127.0.0.1')
    let received = ''
    socket.on('data', data => (received += data))
    socket.write(text)
    const bodies = () => [...received.matchAll(/(?:lane|node) [^;]*;/g)].map(([body]) => body)
    while (bodies().length < count) await new Promise(setImmediate)
    socket.destroy()
    return bodies()
  }

  it('serves plain requests of its path, with the body as it was sent', async () => {
    expect(await answersTo(requestOf('[1]') + requestOf('[22]'), 2)).to.deep.equal(['lane 3 [1];', 'lane 4 [22];'])
  })

  it('leaves a request that its handler does not want to the server, whole, and all that follow it', async () => {
    const other = requestOf('abc').replace('application/json', 'text/plain')
    expect(await answersTo(requestOf('[1]') + other + requestOf('[2]'), 3)).to.deep.equal(['lane 3 [1];', 'node abc;', 'node [2];'])
  })

  it('leaves a request without room to the server, from its first byte, and tells its receiver', async () => {
    limit = 50
    expect(await answersTo(requestOf('x'.repeat(60)), 1)).to.deep.equal([`node ${'x'.repeat(60)};`])
    expect(cut).to.equal(1)
  })

  it('answers what was on its way when the server stops, and says that the connection closes', async () => {
    const socket = connect(server.port, '127.0.0.1')
    let received = ''
    socket.on('data', data => (received += data))
    const closed = new Promise(resolve => socket.once('close', resolve))
    socket.write(requestOf('[1]'))
    while (!received.includes('lane 3 [1];')) await new Promise(setImmediate)
    const stopped = server.stop()
    socket.write(requestOf('[22]'))
    await stopped
    await closed
    expect(received).to.match(/Connection: keep-alive[\s\S]*lane 3 \[1\];[\s\S]*Connection: close\r\n\r\nlane 4 \[22\];$/)
  })

  it('tells the receiver of a request whose client is gone', async () => {
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`${HEAD}Content-Length: 9\r\n\r\n{`)
    socket.end()
    while (cut === 0) await new Promise(setImmediate)
    socket.destroy()
  })
})

describe('a handler of a plain lane that has to think about a request', () => {
  let server: HttpServer
  let waiting: ((wants: boolean) => void)[]
  let fails: (() => void)[]
  let cut: number
  beforeEach(async () => {
    waiting = []
    fails = []
    cut = 0
    const receiver = {
      grow: () => true,
      end: (body: Uint8Array, answer: (answer: PlainAnswer) => void) => answer(answerOf(`lane ${Buffer.from(body)};`)),
      cut: () => cut++,
    }
    const handler: PlainHandler = ({ wanted }) =>
      wanted === 'known'
        ? receiver
        : new Promise((resolve, reject) => {
            waiting.push(wants => resolve(wants ? receiver : undefined))
            fails.push(() => reject(new Error('simulated')))
          })
    const lane = createPlainLane({
      ...{ paths: ['/others', '/things'], wantedHeader: 'x-key', nowMs: () => 0, onError: () => undefined },
      createHandler: () => handler,
    })
    const node = async (request: IncomingMessage, response: ServerResponse) => {
      let text = ''
      for await (const chunk of request as AsyncIterable<Buffer>) text += chunk.toString()
      response.end(`node ${text};`)
    }
    server = await startHttpServer(node, { host: '127.0.0.1', port: 0, setting: 'PORT' }, lane)
  })
  afterEach(() => server.stop(0))

  const begin = (text: string) => {
    const socket = connect(server.port, '127.0.0.1')
    let received = ''
    socket.on('data', data => (received += data))
    socket.write(text)
    const bodies = async (count: number) => {
      const seen = () => [...received.matchAll(/(?:lane|node) [^;]*;/g)].map(([body]) => body)
      while (seen().length < count) await new Promise(setImmediate)
      socket.destroy()
      return seen()
    }
    return { socket, bodies }
  }
  const untilAsked = async (count = 1) => {
    while (waiting.length < count) await new Promise(setImmediate)
  }
  const known = (body: string) => requestOf(body).replace('Host', 'X-Key: known\r\nHost')

  it('gets its body, and those behind it, once it wants the request', async () => {
    const { socket, bodies } = begin(requestOf('[1]').slice(0, -1))
    await untilAsked()
    socket.write(`]${known('[2]')}${requestOf('[3]')}`)
    waiting[0]!(true)
    await untilAsked(2)
    waiting[1]!(true)
    expect(await bodies(3)).to.deep.equal(['lane [1];', 'lane [2];', 'lane [3];'])
  })

  for (const how of ['does not want it', 'fails'])
    it(`leaves it to the server, whole, when it ${how}`, async () => {
      const { socket, bodies } = begin(known('[1]') + requestOf('[2]').slice(0, -1))
      await untilAsked()
      socket.write(`]${known('[3]')}`)
      if (how === 'fails') fails[0]!()
      else waiting[0]!(false)
      expect(await bodies(3)).to.deep.equal(['lane [1];', 'node [2];', 'node [3];'])
    })

  it('hears that the client is gone meanwhile', async () => {
    const { socket } = begin(requestOf('[1]'))
    await untilAsked()
    socket.resetAndDestroy()
    await new Promise(resolve => setTimeout(resolve, 20))
    waiting[0]!(true)
    while (cut === 0) await new Promise(setImmediate)
  })
})

describe('a body that comes in many pieces', () => {
  for (const bodyBytes of [0, 1, 100, 700_000, 3_000_000])
    it(`of ${bodyBytes} bytes is put together, and what lies behind it comes back`, () => {
      const head = { bodyStart: 7, bodyBytes } as PlainHead
      const bytes = Buffer.allocUnsafe(bodyBytes).map((_, i) => i % 251)
      for (const step of [1_000_000, 65_536, 16_384, 999].filter(size => bodyBytes / size < 5_000)) {
        const body = new PlainBody(head)
        const all = Buffer.concat([Buffer.from('<head->'), bytes, Buffer.from('next')])
        let next: Buffer | undefined
        let at = 0
        while (!body.isWhole) {
          const chunk = Buffer.from(all.subarray(at, at + step))
          at += step
          next = body.add(chunk)
        }
        expect(body.take().equals(bytes)).to.equal(true)
        expect((next ?? Buffer.alloc(0)).equals(all.subarray(7 + bodyBytes, at))).to.equal(true)
      }
    })
})

describe('a client that does not read its answers', () => {
  const clock = createFakeClock(Date.UTC(2026, 0, 1))
  const wall = { nowMs: 0 }
  let accepted: number
  const handler: PlainHandler = () => ({
    grow: () => true,
    end(_body, answer) {
      accepted++
      answer(DONE)
    },
    cut: () => undefined,
  })
  beforeEach(() => {
    accepted = 0
    mock.timers.enable({ apis: ['setInterval'] })
  })
  afterEach(() => mock.timers.reset())

  /** A connection of which nothing that is written to it is ever taken. */
  const connectDeaf = () => {
    const lane = createPlainLane({
      paths: ['/things'],
      createHandler: () => handler,
      nowMs: () => wall.nowMs,
      monotonicMs: () => clock.nowMs(),
      onError: () => undefined,
    })
    const socket = new Duplex({ readableHighWaterMark: 1 << 20, writableHighWaterMark: 1, read: () => undefined, write: () => undefined })
    lane.accept(socket as Socket, {} as never)
    const pass = (ms: number) => {
      clock.advance(ms)
      mock.timers.tick(5_000)
    }
    return { socket, pass }
  }
  const settle = async () => {
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
  }

  it('has one request worked on at a time, and is cut after 30 s', async () => {
    const { socket, pass } = connectDeaf()
    socket.push(REQUEST + REQUEST)
    await settle()
    expect(accepted).to.equal(1)
    pass(29_999)
    expect(socket.destroyed).to.equal(false)
    pass(1)
    expect(socket.destroyed).to.equal(true)
  })

  it('stays when the clock of the machine is set an hour ahead', async () => {
    const { socket, pass } = connectDeaf()
    socket.push(REQUEST)
    await settle()
    wall.nowMs += 3_600_000
    pass(0)
    expect(socket.destroyed).to.equal(false)
  })

  it('is cut also when it has ended its side', async () => {
    const { socket, pass } = connectDeaf()
    socket.push(REQUEST)
    socket.push(null)
    await settle()
    expect(accepted).to.equal(1)
    pass(30_000)
    expect(socket.destroyed).to.equal(true)
  })
})

describe('the head of a plain request', () => {
  const parse = (text: string) => parsePlainHead(Buffer.from(text, 'latin1'), FORM)
  const plain = `${HEAD}Content-Encoding:  gzip \r\nX-Other: ä\tb\r\nContent-Length: 12\r\n\r\n`

  it('gives type, encoding and where the body lies', () => {
    expect(parse(`${plain}rest`)).to.deep.equal({
      contentType: 'application/json',
      contentEncoding: 'gzip',
      wanted: undefined,
      bodyStart: plain.length,
      bodyBytes: 12,
      lengthStart: plain.length - 6,
      lengthEnd: plain.length - 4,
    })
  })

  it('has a further header that is asked for', () => {
    expect(parse(plain.replace('X-Other: ä\tb', 'X-Key:  k '))!.wanted).to.equal('k')
  })

  const lengths = ['0', '7', '12', '007', '123456789', '1234567890', '', 'x', '-1', '1 2', '12 ']
  const followers = [
    ...lengths.map(length => plain.replace('12', length)),
    plain.replace('gzip', 'zstd'),
    plain.replace('X-Other: ä', 'X-Key: k'),
    plain.replace('/things', '/others'),
    plain.slice(0, -1),
    `${plain}rest`,
  ]
  for (const text of followers)
    it(`is read alike when the one before it was similar: ${JSON.stringify(text.slice(-30))}`, () => {
      const heads = new PlainHeads(FORM)
      heads.parse(Buffer.from(plain, 'latin1'))
      for (let time = 0; time < 2; time++) expect(heads.parse(Buffer.from(text, 'latin1'))).to.deep.equal(parse(text))
    })

  it('cut off anywhere it is left to the HTTP server', () => {
    for (let length = 0; length < plain.length; length++) expect(parse(plain.slice(0, length)), `${length}`).to.equal(undefined)
  })

  const others = {
    'another path': plain.replace('/things', '/things?x=1'),
    'another method': plain.replace('POST', 'PUT'),
    'HTTP/1.0': plain.replace('HTTP/1.1', 'HTTP/1.0'),
    'a folded header': plain.replace('X-Other: ä', 'X-Other: ä\r\n b'),
    'a header without a name': plain.replace('X-Other', ''),
    'a space before the colon': plain.replace('X-Other:', 'X-Other :'),
    'a bare line feed': plain.replace('ä\tb\r\n', 'ä\tb\n'),
    'a null byte': plain.replace('ä', '\0'),
    'a carriage return in a value': plain.replace('ä', '\r'),
    'transfer-encoding beside a length': plain.replace('X-Other: ä', 'Transfer-Encoding: chunked'),
    'the header that is asked for, twice': plain.replace('X-Other: ä', 'X-Key: a\r\nx-key: a'),
    upgrade: plain.replace('X-Other: ä', 'Upgrade: h2c'),
    'connection: close': plain.replace('X-Other: ä', 'Connection: close'),
    'a head of more than 8 KiB': plain.replace('ä', 'x'.repeat(9000)),
  }
  for (const [name, text] of Object.entries(others)) it(`${name} is left to the HTTP server`, () => expect(parse(text)).to.equal(undefined))
})
