import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { SILENT } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { createControlApp } from './control-app.ts'
import { type HttpServer, startHttpServer } from './server.ts'

const MIB = 1024 * 1024

describe('an answer before the end of its request, on a connection that closes with it', () => {
  let server: HttpServer
  afterEach(() => server.stop(0))

  const start = async (listener: RequestListener) => {
    server = await startHttpServer(listener, { host: '127.0.0.1', port: 0, setting: 'PORT' })
  }

  /** Sends the body once the answer is there: what came, and the fault of the connection if it had one. */
  const answerTo = async (head: string, bytes: number) => {
    const socket = connect(server.port, '127.0.0.1')
    let text = ''
    let fault: string | undefined
    socket.on('error', (error: NodeJS.ErrnoException) => {
      fault = error.code
    })
    const closed = new Promise(resolve => socket.once('close', resolve))
    const answered = new Promise<void>(resolve => {
      socket.on('data', data => {
        text += data
        if (text.includes('\r\n\r\n')) resolve()
      })
      socket.on('close', () => resolve())
    })
    await once(socket, 'connect')
    socket.write(`${head}Host: a\r\nContent-Length: ${bytes}\r\n\r\n`)
    await answered
    for (let sent = 0; sent < bytes && !socket.destroyed; sent += MIB) {
      if (!socket.write(Buffer.alloc(Math.min(MIB, bytes - sent), 0x20)))
        await Promise.race([once(socket, 'drain').catch(() => undefined), closed])
    }
    await closed
    return { text, fault }
  }

  const control = () =>
    createControlApp({
      routes: [{ method: 'POST', path: '/things', handle: () => ({ body: {} }) }],
      log: SILENT,
      metrics: createMetrics(),
    })

  for (const [status, head] of [
    [413, 'POST /things HTTP/1.1\r\nConnection: close\r\n'],
    [413, 'POST /things HTTP/1.0\r\n'],
    [404, 'POST /nowhere HTTP/1.1\r\nConnection: close\r\n'],
    [405, 'PUT /things HTTP/1.1\r\nConnection: close\r\n'],
  ] as const)
    it(`${status} to ${head.split('\r\n')[0]} reaches the client, which sends all it has`, async () => {
      await start(control())
      const { text, fault } = await answerTo(head, 16 * MIB)
      expect([text.slice(9, 12), fault]).to.deep.equal([String(status), undefined])
      expect(JSON.parse(text.split('\r\n\r\n')[1]!).status).to.equal(status)
    })

  it('an answer without a measured length has one, and is whole at once', async () => {
    await start((_request, response) => response.end('well'))
    const { text, fault } = await answerTo('POST / HTTP/1.1\r\nConnection: close\r\n', 16 * MIB)
    expect(fault).to.equal(undefined)
    expect(text).to.match(/content-length: 4\r\n.*\r\n\r\nwell$/is)
  })

  it('one without a body, too', async () => {
    await start((_request, response) => response.writeHead(204).end())
    const { text, fault } = await answerTo('POST / HTTP/1.1\r\nConnection: close\r\n', 16 * MIB)
    expect([text.slice(9, 12), fault]).to.deep.equal(['204', undefined])
  })

  it('one to HEAD, too', async () => {
    await start(control())
    const { text, fault } = await answerTo('HEAD /metrics HTTP/1.1\r\nConnection: close\r\n', 16 * MIB)
    expect([text.slice(9, 12), text.split('\r\n\r\n')[1], fault]).to.deep.equal(['200', '', undefined])
  })
})
