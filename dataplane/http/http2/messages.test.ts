import { once } from 'node:events'
import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from 'node:http2'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { SILENT } from '../../telemetry/log.ts'
import type { HttpServer } from '../server.ts'
import { type Http2Request, type Http2Response, type MessageListener, receiveAsMessages } from './messages.ts'
import { FRAME } from './protocol.ts'
import type { RequestHead } from './request-head.ts'
import { startHttp2Server } from './server.ts'
import type { Exchange, RequestReceiver } from './stream.ts'
import { codeOf, data, HEAD, headers, until } from './testing/http2-harness.ts'
import { connectRaw, GREETING } from './testing/raw-client.ts'

const MEBIBYTE = 1024 * 1024
const WINDOW = 4 * MEBIBYTE
const TIMEOUT_MS = 1_000

describe('requests over HTTP/2 as streams', () => {
  let server: HttpServer
  let session: ClientHttp2Session
  let nowMs: number
  let listener: MessageListener
  let receive: ((head: RequestHead, exchange: Exchange) => RequestReceiver) | undefined
  beforeEach(async () => {
    nowMs = 0
    receive = undefined
    server = await startHttp2Server(
      {
        createHandler: socket => (head, exchange) =>
          receive?.(head, exchange) ?? receiveAsMessages(head, exchange, socket, (...all) => listener(...all)),
        ...{ monotonicMs: () => nowMs, log: SILENT, checkMs: 5, windowBytes: WINDOW, streamTimeoutMs: TIMEOUT_MS },
      },
      { host: '127.0.0.1', port: 0, setting: 'PORT' },
    )
    session = connect(`http://127.0.0.1:${server.port}`)
    session.on('error', () => undefined)
  })
  afterEach(async () => {
    session.destroy()
    await server.stop(0)
  })

  const call = (head: Record<string, string | string[]>, body?: Uint8Array) => {
    const stream = session.request(head, { endStream: body === undefined })
    stream.on('error', () => undefined)
    if (body !== undefined) stream.end(body)
    return stream
  }
  const answerOf = async (stream: ReturnType<typeof call>) => {
    const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders & { readonly ':status'?: number }]
    const pieces: Buffer[] = []
    for await (const piece of stream) pieces.push(piece as Buffer)
    return { status: head[':status'], headers: head, body: Buffer.concat(pieces) }
  }
  /** The request as the listener gets it, and its answer. */
  const listen = () => {
    const { promise, resolve } = Promise.withResolvers<{ request: Http2Request; response: Http2Response; expectsContinue: boolean }>()
    listener = (request, response, expectsContinue) => resolve({ request, response, expectsContinue })
    return promise
  }
  const readAll = async (request: Http2Request) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    return Buffer.concat(pieces)
  }

  it('carry method, path, header and body', async () => {
    const heard = listen()
    const stream = call({ ':method': 'PUT', ':path': '/a?b=1', x: ['1', '2'], cookie: ['a=1', 'b=2'] }, Buffer.from('hello'))
    const { request, response } = await heard
    expect([request.method, request.url, request.httpVersion]).to.deep.equal(['PUT', '/a?b=1', '2.0'])
    expect(request.headers).to.include({ x: '1, 2', cookie: 'a=1; b=2' }).and.to.not.have.any.keys(':path', ':method')
    expect((await readAll(request)).toString()).to.equal('hello')
    expect([request.mayHaveBody, request.complete]).to.deep.equal([true, true])
    response.statusCode = 201
    response.setHeader('Set-Cookie', ['a', 'b']).setHeader('Connection', 'close').setHeader('content-length', 2).end('ok')
    const answer = await answerOf(stream)
    expect([answer.status, answer.body.toString(), answer.headers['set-cookie']]).to.deep.equal([201, 'ok', ['a', 'b']])
    expect(answer.headers).to.have.property('date')
    expect(answer.headers).to.not.have.property('connection')
  })

  it('without a body say so', async () => {
    const heard = listen()
    call({ ':path': '/' })
    const { request } = await heard
    expect(request.mayHaveBody).to.equal(false)
    expect((await readAll(request)).length).to.equal(0)
  })

  it('take answers that are larger than any window, in their order', async () => {
    const body = Buffer.from(Uint32Array.from({ length: MEBIBYTE }, (_, i) => i).buffer)
    listener = (_, response) => void response.end(body)
    const answers = await Promise.all([1, 2, 3].map(() => answerOf(call({ ':path': '/' }))))
    for (const answer of answers) expect(answer.body.equals(body)).to.equal(true)
  })

  it('take answers that come piece by piece', async () => {
    listener = async (_, response) => {
      for (let i = 0; i < 300; i++) if (!response.write(Buffer.alloc(10_000, i))) await once(response, 'drain')
      response.end()
    }
    const { body } = await answerOf(call({ ':path': '/' }))
    expect([body.length, body[0], body.at(-1)]).to.deep.equal([3_000_000, 0, 299 % 256])
  })

  it('hold up who writes an answer that the client does not read', async () => {
    const heard = listen()
    const stream = call({ ':path': '/' })
    const { response } = await heard
    expect(response.write(Buffer.alloc(MEBIBYTE))).to.equal(false)
    await once(stream, 'response')
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(response.writableNeedDrain).to.equal(true)
    stream.resume()
    await once(response, 'drain')
    response.end()
    await once(stream, 'end')
  })

  it('hold up a client whose request is not read', async () => {
    const heard = listen()
    const size = 6 * MEBIBYTE
    const stream = call({ ':method': 'POST', ':path': '/' }, Buffer.alloc(size, 7))
    const { request, response } = await heard
    let last = -1
    while (request.readableLength > last) {
      last = request.readableLength
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    expect(request.readableLength).to.be.above(0).and.at.most(WINDOW)
    expect((await readAll(request)).length).to.equal(size)
    response.end('ok')
    expect((await answerOf(stream)).body.toString()).to.equal('ok')
  })

  it('let others through when one that was held is over', async () => {
    for (let i = 0; i < 3; i++) {
      const heard = listen()
      const stream = call({ ':method': 'POST', ':path': '/' }, Buffer.alloc(5 * MEBIBYTE))
      const { request } = await heard
      await until(() => request.readableLength > WINDOW / 2)
      stream.close(constants.NGHTTP2_CANCEL)
      await once(request, 'close')
    }
    listener = async (request, response) => response.end(String((await readAll(request)).length))
    const answer = await answerOf(call({ ':method': 'POST', ':path': '/' }, Buffer.alloc(6 * MEBIBYTE)))
    expect(answer.body.toString()).to.equal(String(6 * MEBIBYTE))
  })

  for (const { title, head, status } of [
    { title: 'HEAD', head: { ':method': 'HEAD', ':path': '/' }, status: 200 },
    { title: '204', head: { ':path': '/' }, status: 204 },
  ])
    it(`get no body for ${title}`, async () => {
      listener = (_, response) => {
        response.statusCode = status
        response.setHeader('content-length', 5).end('hello')
      }
      const answer = await answerOf(call(head))
      expect([answer.status, answer.body.length]).to.deep.equal([status, 0])
    })

  it('get header fields of more bytes than a frame has', async () => {
    const fields = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`x-${i}`, String(i).repeat(4_000)]))
    listener = (_, response) => {
      for (const [name, value] of Object.entries(fields)) response.setHeader(name, value)
      response.end('ok')
    }
    const answer = await answerOf(call({ ':path': '/' }))
    expect(answer.headers).to.include(fields)
    expect(answer.body.toString()).to.equal('ok')
  })

  for (const [name, value] of [
    ['x', 'a\r\nb: c'],
    ['x', 'a\0'],
    ['x y', 'a'],
    ['x', 'Ā'],
  ] as const)
    it(`refuse the header field ${JSON.stringify(`${name}: ${value}`)} of an answer`, async () => {
      const heard = listen()
      const stream = call({ ':path': '/' })
      const { response } = await heard
      expect(() => response.setHeader(name, value)).to.throw(TypeError)
      response.end()
      await answerOf(stream)
    })

  it('end when the client gives them up', async () => {
    const heard = listen()
    const stream = call({ ':method': 'POST', ':path': '/' }, Buffer.alloc(10))
    const { request, response } = await heard
    response.write('a')
    await once(stream, 'response')
    stream.close(constants.NGHTTP2_CANCEL)
    await once(response, 'close')
    expect([request.destroyed, response.writableFinished]).to.deep.equal([true, false])
    response.write('b', () => undefined)
  })

  for (const { title, begins } of [
    { title: 'before', begins: false },
    { title: 'after', begins: true },
  ])
    it(`show that an answer broke off ${title} its head`, async () => {
      const heard = listen()
      const stream = call({ ':path': '/' })
      let status: unknown
      stream.on('response', head => {
        status = head[':status']
      })
      stream.resume()
      const { response } = await heard
      if (begins) {
        response.write('a')
        await once(stream, 'data')
      }
      response.destroy()
      await once(stream, 'close')
      expect([status, stream.rstCode]).to.deep.equal([begins ? 200 : undefined, constants.NGHTTP2_CANCEL])
    })

  it('may be answered before they are whole: the client is told later to send no more', async () => {
    listener = (_, response) => void response.end('no')
    const stream = session.request({ ':method': 'POST', ':path': '/' })
    stream.write(Buffer.alloc(100_000))
    const { body } = await answerOf(stream)
    expect(body.toString()).to.equal('no')
    nowMs = 2_000
    if (!stream.closed) await once(stream, 'close')
    expect(stream.rstCode).to.equal(constants.NGHTTP2_NO_ERROR)
  })

  it('that expect it hear that they may go on', async () => {
    const heard = listen()
    const stream = session.request({ ':method': 'POST', ':path': '/', expect: '100-continue' })
    const { response, expectsContinue } = await heard
    expect(expectsContinue).to.equal(true)
    const goesOn = once(stream, 'continue')
    response.writeContinue()
    await goesOn
    stream.end('x')
    response.end('ok')
    expect((await answerOf(stream)).body.toString()).to.equal('ok')
  })

  it('are cut when the client takes nothing of the answer for too long, and only then', async () => {
    const client = await connectRaw(server.port)
    listener = (_, response) => void response.end(Buffer.alloc(200_000))
    client.send(GREETING, headers(1))
    const isData = (frame: { readonly type: number; readonly streamId: number }) => frame.type === FRAME.data && frame.streamId === 1
    let received = 0
    const take = async (upTo: number) => {
      while (received < upTo) received += (await client.next(isData)).payload.length
    }
    await take(65_535)
    const more = Buffer.alloc(4)
    more.writeUInt32BE(10_000)
    const update = (streamId: number) => Buffer.concat([Buffer.from([0, 0, 4, FRAME.windowUpdate, 0, 0, 0, 0, streamId]), more])
    for (let i = 1; i <= 3; i++) {
      nowMs += TIMEOUT_MS - 1
      client.send(update(0), update(1))
      await take(65_535 + 10_000 * i)
    }
    nowMs += TIMEOUT_MS
    const reset = await client.next(frame => frame.type === FRAME.resetStream)
    expect(codeOf(reset, 0)).to.equal(8)
    client.close()
  })

  it('that have less time get their own answer when it is over', async () => {
    let late = 0
    receive = (_, exchange) => ({
      ...{ data: () => undefined, end: () => undefined, cut: () => undefined },
      patience: {
        ms: TIMEOUT_MS / 2,
        late() {
          late++
          const body = exchange.begin([[':status', '408']], () => undefined)
          body.end([['x', 'late']])
        },
      },
    })
    const client = await connectRaw(server.port)
    client.send(GREETING, headers(1, 4, HEAD), data(1, Buffer.from('a')))
    await new Promise(resolve => setTimeout(resolve, 30))
    expect(late).to.equal(0)
    nowMs = TIMEOUT_MS / 2
    await client.next(frame => frame.type === FRAME.headers && (frame.flags & 1) !== 0)
    expect(late).to.equal(1)
    client.close()
  })
})
