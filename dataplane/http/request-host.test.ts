import { connect } from 'node:net'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { createPlainLane } from './plain-lane/plain-lane.ts'
import { type HttpServer, startHttpServer } from './server.ts'

const PLAIN = 'POST /things HTTP/1.1\r\nContent-Length: 2\r\n'

describe('the host of a request (RFC 9112, 3.2)', () => {
  let server: HttpServer
  before(async () => {
    const lane = createPlainLane({
      paths: ['/things'],
      createHandler: () => () => ({
        grow: () => true,
        end: (_body, answer) => answer({ status: 200, headers: { 'content-length': '4' }, body: Buffer.from('lane') }),
        cut() {},
      }),
      nowMs: () => 0,
      onError: () => undefined,
    })
    server = await startHttpServer((_request, response) => response.end('node'), { host: '127.0.0.1', port: 0, setting: 'PORT' }, lane)
  })
  after(() => server.stop(0))

  const answerTo = (head: string, body: string) =>
    new Promise<string>(resolve => {
      let answer = ''
      const socket = connect(server.port, '127.0.0.1', () => socket.write(`${head}\r\n${body}`))
      socket.on('data', data => {
        answer += data
        if (/node|lane|}/.test(answer)) socket.destroy()
      })
      socket.on('close', () => resolve(answer))
    })

  for (const [door, head, body, text] of [
    ['the HTTP server', 'GET / HTTP/1.1\r\n', '', 'node'],
    ['the plain lane', PLAIN, '{}', 'lane'],
  ] as const)
    describe(`at ${door}`, () => {
      for (const host of ['logs.example.com', '127.0.0.1:8080', '[::1]:8080', 'my_host', ''])
        it(`is taken: "${host}"`, async () => {
          const answer = await answerTo(`${head}Host: ${host}\r\n`, body)
          expect(answer).to.match(/^HTTP\/1.1 200 /)
          expect(answer).to.contain(text)
        })

      for (const [name, hosts] of [
        ['two hosts', ['a', 'b']],
        ['the same host twice', ['a', 'a']],
        ['no host', []],
        ['a host with a user', ['me@a']],
        ['a host with a path', ['a/b']],
        ['a host with a space', ['a b']],
        ['two hosts in one', ['a, b']],
      ] as const)
        it(`400 for ${name}`, async () => {
          const answer = await answerTo(head + hosts.map(host => `Host: ${host}\r\n`).join(''), body)
          expect(answer).to.match(/^HTTP\/1.1 400 /)
          expect(JSON.parse(answer.split('\r\n\r\n')[1]!)).to.include({ status: 400 })
        })
    })

  it('may be missing over HTTP/1.0', async () => {
    expect(await answerTo('GET / HTTP/1.0\r\n', '')).to.match(/^HTTP\/1.1 200 /)
  })
})
