import { connect } from 'node:net'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type HttpServer, startHttpServer } from './server.ts'

describe('a request that does not come to its end', () => {
  for (const { name, request } of [
    { name: 'head', request: 'POST / HTTP/1.1\r\nHost: x\r\n' },
    { name: 'body', request: 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab' },
  ])
    it(`408 soon after its time, where its ${name} is cut short`, async () => {
      const at = { host: '127.0.0.1', port: 0, setting: 'PORT', requestTimeoutMs: 200 }
      const server = await startHttpServer((incoming, response) => incoming.on('end', () => response.end('ok')).resume(), at)
      const socket = connect(server.port, '127.0.0.1', () => socket.write(request))
      let answer = ''
      socket.on('data', data => (answer += data))
      await new Promise(resolve => socket.on('close', resolve))
      await server.stop()
      expect(answer).to.match(/^HTTP\/1\.1 408 /)
    })
})

describe('a request that is not HTTP', () => {
  let server: HttpServer
  before(async () => {
    server = await startHttpServer((request, response) => request.on('end', () => response.end('ok')).resume(), {
      host: '127.0.0.1',
      port: 0,
      setting: 'PORT',
    })
  })
  after(() => server.stop())

  const answerTo = (request: string) =>
    new Promise<string>(resolve => {
      let answer = ''
      const socket = connect(server.port, '127.0.0.1', () => socket.write(request))
      socket.on('data', data => (answer += data))
      socket.on('close', () => resolve(answer))
    })

  for (const { name, request, status } of [
    { name: 'garbage', request: 'hello\r\n\r\n', status: 400 },
    { name: 'two framings', request: 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', status: 400 },
    { name: 'endless headers', request: `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, status: 431 },
  ])
    it(`${name}: ${status} as JSON, and the connection ends`, async () => {
      const [head, body] = (await answerTo(request)).split('\r\n\r\n')
      expect(head)
        .to.match(new RegExp(`^HTTP/1.1 ${status} `))
        .and.to.match(/\r\ncache-control: no-store/i)
      expect(JSON.parse(body!)).to.include({ status })
    })

  for (const { name, request, status } of [
    { name: 'garbage', request: 'hello\r\n\r\n', status: 400 },
    {
      name: 'a malformed chunk',
      request: 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      status: 400,
    },
    { name: 'endless headers', request: `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}`, status: 431 },
  ])
    it(`the ${status} for ${name} reaches a client that goes on sending`, async () => {
      const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
      let fault: string | undefined
      socket.on('error', (error: NodeJS.ErrnoException) => {
        fault = error.code
      })
      const closed = new Promise(resolve => socket.once('close', resolve))
      let answer = ''
      socket.on('data', data => {
        answer += data
      })
      const ended = new Promise(resolve => socket.once('end', resolve))
      socket.write(request)
      await Promise.race([ended, closed])
      socket.end(Buffer.alloc(8 * 1024 * 1024, 0x78))
      await closed
      expect([answer.slice(9, 12), fault]).to.deep.equal([String(status), undefined])
    })
})
