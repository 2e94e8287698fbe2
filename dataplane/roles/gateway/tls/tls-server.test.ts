import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:tls'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { systemClock } from '../../../adapters/clock/system-clock.ts'
import { answerJson, type GatewayResponse, stopReading } from '../../../upstream/exchange.ts'
import { selfSigned } from './certificate.ts'
import { startTlsServer, type TlsServer } from './tls-server.ts'

describe("the gateway's port", () => {
  let server: TlsServer
  /** How many listeners of its close the connection of the last request has. */
  let listeners = 0
  before(async () => {
    const certificate = selfSigned('127.0.0.1', systemClock)
    const at = { host: '127.0.0.1', port: 0, setting: 'GATEWAY_PORT' }
    server = await startTlsServer(
      (request, response) => {
        stopReading(request)
        if ('socket' in request) listeners = request.socket.listenerCount('close')
        answerJson(response, 200, { version: request.httpVersion })
      },
      certificate,
      at,
    )
  })
  after(() => server.stop(0))

  for (const { title, protocols, version } of [
    { title: 'HTTP/1.1', protocols: ['http/1.1'], version: '1.1' },
    { title: 'HTTP/1.0, as curl --http1.0 does', protocols: ['http/1.0'], version: '1.0' },
    { title: 'both', protocols: ['http/1.0', 'http/1.1'], version: '1.1' },
    { title: 'nothing', protocols: [], version: '1.1' },
  ])
    it(`answers a client that names ${title} by ALPN`, async () => {
      const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ALPNProtocols: protocols })
      await once(socket, 'secureConnect')
      socket.end(`GET / HTTP/${version}\r\nHost: x\r\nConnection: close\r\n\r\n`)
      let text = ''
      for await (const piece of socket) text += piece
      expect(text).to.match(/^HTTP\/1\.1 200 /)
      expect(text).to.contain(`{"version":"${version}"}`)
    })

  for (const method of ['GET', 'POST'])
    it(`tells the client of a ${method} in plain text that it speaks TLS`, async () => {
      const answer = await fetch(`http://127.0.0.1:${server.port}/v1/logs`, { method, ...(method === 'POST' ? { body: '{}' } : {}) })
      const error = 'this port speaks TLS: expected https://, seen a request in plain text'
      expect(answer.status).to.equal(400)
      expect(await answer.json()).to.deep.equal({ error, status: 400 })
    })

  it('an answer before the end of its request reaches a client that closes the connection behind it, and sends all it has', async () => {
    const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false })
    let fault: string | undefined
    socket.on('error', (error: NodeJS.ErrnoException) => {
      fault = error.code
    })
    await once(socket, 'secureConnect')
    const body = Buffer.alloc(8 * 1024 * 1024)
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).to.match(/^HTTP\/1\.1 200 /)
    socket.write(body)
    await new Promise(resolve => socket.once('close', resolve))
    expect(fault).to.equal(undefined)
  })

  it('keeps nothing of refused requests on a connection that goes on', async () => {
    const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const seen: number[] = []
    for (let i = 0; i < 4; i++) {
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n')
      await once(socket, 'data')
      seen.push(listeners)
      socket.write('{}')
    }
    socket.destroy()
    expect(new Set(seen).size, `listeners of the connection by request: ${seen.join(', ')}`).to.equal(1)
  })

  it('takes megabytes of one request at a time, not 64 KiB of all requests on a connection', async () => {
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
    await once(session, 'remoteSettings')
    const stream = session.request({ ':method': 'GET', ':path': '/' })
    await once(stream, 'response')
    expect(session.state.remoteWindowSize).to.be.above(1_000_000)
    expect(session.remoteSettings.initialWindowSize).to.be.above(1_000_000)
    stream.close()
    session.close()
  })

  it('stops with the answer under way, though the client would keep the connection', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<GatewayResponse>()
    const at = { host: '127.0.0.1', port: 0, setting: 'GATEWAY_PORT' }
    const stopping = await startTlsServer((_request, response) => resolve(response), selfSigned('127.0.0.1', systemClock), at)
    const socket = connect({ host: '127.0.0.1', port: stopping.port, rejectUnauthorized: false })
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    const response = await asked
    const stopped = stopping.stop(60_000)
    answerJson(response, 200, {})
    let text = ''
    for await (const piece of socket) text += piece
    await stopped
    expect(text).to.match(/\r\nConnection: close\r\n/i)
  })
})
