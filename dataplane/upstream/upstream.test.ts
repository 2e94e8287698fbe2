/** A proxy before one back end, both on sockets: what becomes of a request when either side does not do as it should. */
import { once } from 'node:events'
import {
  createServer as createHttpServer,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
} from 'node:http'
import { type AddressInfo, connect, createServer, type Server as NetServer, type Socket } from 'node:net'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { HttpError } from '../http/http-error.ts'
import { SILENT } from '../telemetry/log.ts'
import { answerError } from './exchange.ts'
import { createUpstream, type Upstream } from './upstream.ts'

/** Bytes of one request, and what the back end does about them. */
type OnBytes = (socket: Socket, text: string) => void

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

describe('a request to a back end', () => {
  let backEnd: NetServer
  let sockets: Set<Socket>
  let onBytes: OnBytes
  /** Heads that came to the back end. */
  let heads: string[]
  let upstream: Upstream
  let warnings: string[]
  let proxy: Server

  const listen = async (port: number) => {
    backEnd = createServer(socket => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
      socket.on('data', bytes => {
        const text = bytes.toString('latin1')
        if (/^[A-Z]+ \//.test(text)) heads.push(text)
        onBytes(socket, text)
      })
    }).listen(port, '127.0.0.1')
    await once(backEnd, 'listening')
    return (backEnd.address() as AddressInfo).port
  }
  const closeBackEnd = async () => {
    backEnd.close()
    for (const socket of sockets) socket.destroy()
    await once(backEnd, 'close')
  }

  let port: number
  beforeEach(async () => {
    sockets = new Set()
    heads = []
    warnings = []
    onBytes = socket => socket.write(OK)
    port = await listen(0)
    upstream = createUpstream(
      { endpoint: `http://127.0.0.1:${port}`, name: 'the shop' },
      { ...SILENT, warn: (_, message) => void warnings.push(String(message)) },
    )
    proxy = createHttpServer((request, response) => {
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      const exchange = { request, response, owner: { tenant: String(request.headers['x-of'] ?? 'acme') }, signal: gone.signal }
      upstream.forward(exchange, { path: request.url! }).catch((error: unknown) => {
        answerError(response, error instanceof HttpError ? error : new HttpError(500, String(error)))
      })
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
  })
  afterEach(async () => {
    proxy.closeAllConnections()
    proxy.close()
    await upstream.close()
    if (backEnd.listening) await closeBackEnd()
  })

  const begin = (method: string, headers: OutgoingHttpHeaders = {}) =>
    httpRequest({ host: '127.0.0.1', port: (proxy.address() as AddressInfo).port, path: '/x', method, headers, agent: false })
  const answerTo = async (sent: ReturnType<typeof begin>) => {
    sent.on('error', () => undefined)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    let text = ''
    for await (const piece of answer) text += piece
    return { status: answer.statusCode, headers: answer.headers, text }
  }
  const ask = (method: string, body?: string, headers: OutgoingHttpHeaders = {}) => {
    const sent = begin(method, headers)
    sent.end(body)
    return answerTo(sent)
  }
  const bodyOf = (size: number) => 'x'.repeat(size)

  it('warns of a back end that gives no answer, not of a caller that hung up', async () => {
    const reached = new Promise<Socket>(resolve => {
      onBytes = resolve
    })
    const sent = begin('GET')
    sent.on('error', () => undefined)
    sent.end()
    const socket = await reached
    sent.destroy()
    await once(socket, 'close')
    await closeBackEnd()
    expect(await ask('GET')).to.include({ status: 502 })
    expect(warnings).to.deep.equal(['the shop gave no answer'])
  })

  it('of one tenant leaves connections to the others, however slowly that tenant sends and reads', async () => {
    onBytes = (socket, text) => {
      if (text.includes('x-service-tenant-id: globex')) socket.write(OK)
    }
    const slow = Array.from({ length: 130 }, () => {
      const sent = begin('POST', { 'content-length': '2' })
      sent.on('error', () => undefined)
      sent.write('{')
      return sent
    })
    while (heads.length < 96) await new Promise(setImmediate)
    expect(await ask('GET', undefined, { 'x-of': 'globex' })).to.include({ status: 200 })
    expect(heads.filter(head => head.includes('x-service-tenant-id: acme'))).to.have.length(96)
    for (const sent of slow) sent.destroy()
    onBytes = socket => socket.write(OK)
    expect(await ask('GET')).to.include({ status: 200 })
  })

  it('whose caller hung up while it waited for a connection takes none', async () => {
    let [connections, taken, gone] = [0, 0, 0]
    backEnd.on('connection', () => connections++)
    proxy.on('request', (_, response) => {
      taken++
      response.once('close', () => gone++)
    })
    const held: Socket[] = []
    onBytes = socket => void held.push(socket)
    const served = Array.from({ length: 96 }, () => ask('GET'))
    while (held.length < 96) await new Promise(setImmediate)
    const waiting = Array.from({ length: 30 }, () => begin('GET'))
    for (const sent of waiting) sent.on('error', () => undefined).end()
    while (taken < 126) await new Promise(setImmediate)
    for (const sent of waiting) sent.destroy()
    while (gone < 30) await new Promise(setImmediate)
    onBytes = socket => socket.write(OK)
    for (const socket of held) socket.write(OK)
    for (const { status } of await Promise.all(served)) expect(status).to.equal(200)
    for (const { status } of await Promise.all(Array.from({ length: 96 }, () => ask('GET')))) expect(status).to.equal(200)
    expect([connections, heads.length]).to.deep.equal([96, 192])
  })

  it('uses a connection again', async () => {
    await ask('GET')
    await ask('POST', 'x')
    expect([heads.length, sockets.size]).to.deep.equal([2, 1])
  })

  for (const method of ['GET', 'POST', 'DELETE'])
    it(`${method}: a kept connection that was closed is not taken`, async () => {
      await ask('GET')
      for (const socket of sockets) socket.destroy()
      expect(await ask(method, method === 'POST' ? 'x' : undefined)).to.include({ status: 200, text: 'ok' })
    })

  for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS'])
    it(`${method}: a connection that is closed as it is taken is replaced, once`, async () => {
      await ask('GET')
      heads.length = 0
      onBytes = socket => {
        if (heads.length > 1) return void socket.write(method === 'HEAD' ? OK.slice(0, -2) : OK)
        socket.resetAndDestroy()
      }
      expect((await ask(method)).status).to.equal(200)
      expect(heads).to.have.length(2)
    })

  it('POST: a request of which the back end may know is not sent twice', async () => {
    await ask('GET')
    heads.length = 0
    onBytes = socket => socket.resetAndDestroy()
    const { status, text } = await ask('POST', '{}')
    expect([status, JSON.parse(text)]).to.deep.equal([502, { error: 'the shop cannot be reached', status: 502 }])
    expect(heads).to.have.length(1)
  })

  it('a back end that resets every connection: 502, after two attempts', async () => {
    onBytes = socket => socket.resetAndDestroy()
    expect((await ask('GET')).status).to.equal(502)
    expect(heads).to.have.length(2)
  })

  it('goes on once a back end is back, with whatever number of kept connections', async () => {
    const held: Socket[] = []
    onBytes = socket => void held.push(socket)
    const asked = Array.from({ length: 20 }, () => ask('GET'))
    while (held.length < 20) await new Promise(setImmediate)
    for (const socket of held) socket.write(OK)
    await Promise.all(asked)
    await closeBackEnd()
    expect((await ask('GET')).status).to.equal(502)
    onBytes = socket => socket.write(OK)
    await listen(port)
    for (const { status } of await Promise.all(Array.from({ length: 20 }, () => ask('POST', 'x')))) expect(status).to.equal(200)
  })

  it('a caller that hangs up in the middle of its body ends the request', async () => {
    onBytes = () => undefined
    const sent = begin('POST', { 'content-length': 1_000_000 })
    sent.on('error', () => undefined)
    sent.write(bodyOf(1_000))
    while (heads.length === 0) await new Promise(setImmediate)
    const [socket] = sockets
    sent.destroy()
    await once(socket!, 'close')
  })

  for (const [status, reason] of [
    [413, 'Content Too Large'],
    [401, 'Unauthorized'],
  ] as const)
    for (const [title, headers] of [
      ['of a known length', { 'content-length': 8 << 20 }],
      ['in pieces', {}],
    ] as const)
      it(`${status} before a body ${title} has been sent reaches the caller`, async () => {
        onBytes = (socket, text) => {
          if (/^POST/.test(text)) socket.write(`HTTP/1.1 ${status} ${reason}\r\ncontent-length: 2\r\n\r\nno`)
        }
        const sent = begin('POST', headers)
        for (let i = 0; i < 8; i++) sent.write(bodyOf(1 << 20))
        const answer = answerTo(sent)
        sent.end()
        expect(await answer).to.include({ status, text: 'no' })
      })

  it('the connection of a caller that was answered early serves its next request', async () => {
    onBytes = (socket, text) => {
      if (text.startsWith('POST')) socket.write('HTTP/1.1 413 Large\r\ncontent-length: 2\r\n\r\nno')
      else if (text.startsWith('GET')) socket.write(OK)
    }
    const socket = connect((proxy.address() as AddressInfo).port, '127.0.0.1')
    let text = ''
    socket.on('data', bytes => {
      text += bytes
    })
    socket.write(`POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n${bodyOf(50)}`)
    while (!text.endsWith('no')) await new Promise(setImmediate)
    socket.write(`${bodyOf(50)}GET /x HTTP/1.1\r\nhost: a\r\n\r\n`)
    while (!text.endsWith('ok')) await new Promise(setImmediate)
    socket.destroy()
  })

  it('100-continue is answered here, and says nothing to the back end', async () => {
    const sent = begin('POST', { expect: '100-continue', 'content-length': 3 })
    sent.on('continue', () => sent.end('abc'))
    sent.flushHeaders()
    expect(await answerTo(sent)).to.include({ status: 200 })
    expect(heads[0]).to.not.match(/expect/i)
  })

  it('1xx answers are not the answer', async () => {
    onBytes = socket => socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${OK}`)
    expect(await ask('GET')).to.include({ status: 200, text: 'ok' })
  })

  it('HEAD keeps the length of the answer, 204 and 304 have none', async () => {
    onBytes = socket => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5000\r\nx-a: 1\r\n\r\n')
    const { headers, text } = await ask('HEAD')
    expect([headers['content-length'], headers['x-a'], text]).to.deep.equal(['5000', '1', ''])
    for (const status of [204, 304]) {
      onBytes = socket => socket.write(`HTTP/1.1 ${status} X\r\n\r\n`)
      expect(await ask('GET')).to.include({ status, text: '' })
    }
  })

  it('trailers end here, on both ways', async () => {
    onBytes = (socket, text) => {
      if (text.includes('body'))
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-t\r\n\r\n2\r\nok\r\n0\r\nx-t: 1\r\n\r\n')
    }
    const sent = begin('POST', { trailer: 'x-mine', 'transfer-encoding': 'chunked' })
    sent.write('body')
    sent.addTrailers({ 'x-mine': '1' })
    sent.end()
    const { text, headers } = await answerTo(sent)
    expect(text).to.equal('ok')
    expect(headers).to.not.have.any.keys('trailer', 'x-t')
    expect(heads.join('')).to.not.match(/x-mine|trailer/i)
  })

  it('header fields of an answer beyond 16 KiB: 502', async () => {
    onBytes = socket => socket.write(`HTTP/1.1 200 OK\r\nx-large: ${bodyOf(20_000)}\r\ncontent-length: 2\r\n\r\nok`)
    const { status, text } = await ask('POST', 'x')
    expect([status, JSON.parse(text).error]).to.deep.equal([502, 'the shop gave an answer that cannot be passed on'])
  })

  for (const interim of ['100 Continue', '102 Processing', '103 Early Hints'])
    it(`${interim}, which nobody asked for, is no answer`, async () => {
      onBytes = socket => socket.write(`HTTP/1.1 ${interim}\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`)
      for (const method of ['GET', 'POST', 'GET']) {
        const { status, text } = await ask(method, method === 'POST' ? 'x' : undefined)
        expect([method, status, text]).to.deep.equal([method, 200, 'ok'])
      }
      expect(await upstream.json({ method: 'GET', path: '/' }).catch(error => String(error))).to.include('no JSON')
    })

  it('an answer that is no HTTP: 502', async () => {
    onBytes = socket => socket.end('SSH-2.0-OpenSSH\r\n\r\n')
    expect((await ask('GET')).status).to.equal(502)
  })

  it('an answer that breaks off breaks off', async () => {
    onBytes = socket => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\nhalf')
    const sent = begin('GET')
    sent.end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    const [error] = await once(answer, 'error')
    expect(error).to.be.instanceOf(Error)
  })

  it('an answer is read no faster than the caller takes it', async () => {
    let written = 0
    onBytes = socket => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const piece = `10000\r\n${bodyOf(0x10000)}\r\n`
      const more = () => {
        while (written < 512 && socket.write(piece)) written++
        written++
      }
      socket.on('drain', more)
      more()
    }
    const sent = begin('GET')
    sent.end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.pause()
    // The system's own buffers fill up, and nothing moves any more.
    for (let last = -1; last !== written; await new Promise(resolve => setTimeout(resolve, 50))) last = written
    expect(written).to.be.below(300)
    sent.destroy()
  })
})
