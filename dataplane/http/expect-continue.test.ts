import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { type HttpServer, startHttpServer } from './server.ts'

const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n'

describe('a client that waits for 100 Continue', () => {
  let server: HttpServer
  afterEach(() => server.stop(0))

  /** All that comes; the body is sent upon the 100. */
  async function answerTo(listener: RequestListener): Promise<string> {
    server = await startHttpServer(listener, { host: '127.0.0.1', port: 0, setting: 'PORT' })
    const socket = connect(server.port, '127.0.0.1')
    let text = ''
    socket.write(HEAD)
    return new Promise(resolve => {
      socket.on('data', data => {
        text += data
        if (text === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write('abcd')
        else if (/abcd$|too large$/.test(text)) socket.end()
      })
      socket.once('close', () => resolve(text))
    })
  }

  it('is asked for the body that somebody reads', async () => {
    const text = await answerTo((request, response) => {
      let body = ''
      request.on('data', data => (body += data))
      request.on('end', () => response.end(`seen ${body}`))
    })
    expect(text).to.match(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*seen abcd$/)
  })

  it('is asked for it once, also where it is read as a loop', async () => {
    const text = await answerTo(async (request, response) => {
      let body = ''
      for await (const piece of request) body += piece
      response.end(`seen ${body}`)
    })
    expect(text.match(/100 Continue/g)).to.have.length(1)
    expect(text).to.match(/seen abcd$/)
  })

  it('gets the answer in place of it to a request that is refused before', async () => {
    const text = await answerTo((_request, response) => response.writeHead(413, { 'content-length': 9 }).end('too large'))
    expect(text).to.match(/^HTTP\/1\.1 413 [\s\S]*too large$/)
  })
})
