import type { RequestListener, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { type HttpServer, startHttpServer } from './server.ts'

/** More than a test may take: a stop that waits for the end of it fails. */
const GRACE_MS = 60_000
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

describe('the stop of a server, with connections that their clients would keep', () => {
  let server: HttpServer
  let socket: Socket
  afterEach(() => {
    socket.destroy()
    return server.stop(0)
  })

  const call = async (listener: RequestListener, request: string) => {
    server = await startHttpServer(listener, { host: '127.0.0.1', port: 0, setting: 'PORT' })
    socket = connect(server.port, '127.0.0.1')
    let text = ''
    const seen: (() => void)[] = []
    socket.on('data', data => {
      text += data
      for (const each of seen) each()
    })
    const closed = new Promise<string>(resolve => socket.once('close', () => resolve(text)))
    socket.write(request)
    return { closed, includes: (part: string) => new Promise<void>(resolve => seen.push(() => text.includes(part) && resolve())) }
  }
  const caught = () => Promise.withResolvers<ServerResponse>()
  const headOf = (text: string) => text.split('\r\n\r\n')[0]!.toLowerCase()

  it('ends with the answer to a request under way, which tells the client that the connection closes', async () => {
    const { promise, resolve } = caught()
    const { closed } = await call((_request, response) => resolve(response), 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    const response = await promise
    const stopped = server.stop(GRACE_MS)
    response.end('well')
    await stopped
    const text = await closed
    expect(text).to.match(/well$/)
    expect(headOf(text)).to.include('connection: close')
  })

  it('ends with the rest of an answer whose head had gone out', async () => {
    const { promise, resolve } = caught()
    const listener: RequestListener = (_request, response) => {
      response.writeHead(200, { 'content-length': 8 }).write('well')
      resolve(response)
    }
    const { closed } = await call(listener, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    const response = await promise
    const stopped = server.stop(GRACE_MS)
    response.end('done')
    await stopped
    expect(await closed).to.match(/\r\n\r\nwelldone$/)
  })

  it('ends once the rest of a request has come that was answered before its end', async () => {
    const { closed, includes } = await call((request, response) => {
      request.resume()
      response.end('well')
    }, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab')
    await includes('well')
    const stopped = server.stop(GRACE_MS)
    socket.write('cd')
    await stopped
    expect(await closed).to.match(/well$/)
  })

  it('reads a body to its end that comes after its beginning, and answers', async () => {
    const { promise, resolve } = caught()
    const { closed } = await call((request, response) => {
      resolve(response)
      let body = ''
      request.on('data', data => {
        body += data
      })
      request.on('end', () => response.end(`seen ${body}`))
    }, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab')
    await promise
    const stopped = server.stop(GRACE_MS)
    socket.write('cd')
    await stopped
    expect(await closed).to.match(/seen abcd$/)
  })

  it('is told of in the answer to a request that was on its way when it began', async () => {
    const { closed, includes } = await call((_request, response) => response.end('well'), GET)
    await includes('well')
    const stopped = server.stop(GRACE_MS)
    socket.write(GET)
    await stopped
    const [, kept, second] = (await closed).toLowerCase().split('http/1.1 200 ok')
    expect(kept).to.include('connection: keep-alive')
    expect(second).to.match(/connection: close[\s\S]*well$/)
  })

  it('is told of in the answer to a request whose body was still coming', async () => {
    const { promise, resolve } = caught()
    const { closed } = await call((request, response) => {
      resolve(response)
      request.resume().on('end', () => response.end('well'))
    }, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab')
    await promise
    const stopped = server.stop(GRACE_MS)
    socket.write('cd')
    await stopped
    expect(headOf(await closed)).to.include('connection: close')
  })

  it('answers connections that wait to be accepted', async () => {
    server = await startHttpServer((_request, response) => response.end('well'), { host: '127.0.0.1', port: 0, setting: 'PORT' })
    const calls = Array.from({ length: 20 }, () => {
      socket = connect(server.port, '127.0.0.1')
      socket.write(GET)
      let text = ''
      socket.on('data', data => (text += data))
      return new Promise<string>((resolve, reject) => socket.once('error', reject).once('close', () => resolve(text)))
    })
    await server.stop(GRACE_MS)
    for (const text of await Promise.all(calls)) expect(text).to.match(/connection: close[\s\S]*well$/i)
  })
})
