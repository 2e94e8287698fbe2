import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import type { SecureVersion, TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { type OutboundHttp, type OutboundRequest, TargetRefused, TargetUnreachable } from '../../ports/outbound-http.ts'
import { makeSelfSigned } from '../../roles/gateway/tls/self-signed.ts'
import { createOutboundAddresses } from './outbound-addresses.ts'
import { createOutboundHttp } from './outbound-http.ts'

describe('outbound HTTP', () => {
  let outbound: OutboundHttp
  const servers: Server[] = []
  const sockets = new Set<Socket>()

  beforeEach(() => {
    outbound = createOutboundHttp({ allowPrivate: true })
  })
  afterEach(async () => {
    await outbound.close()
    for (const socket of sockets) socket.destroy()
    await Promise.all(servers.splice(0).map(server => new Promise(done => server.close(done))))
  })

  const listen = async (server: Server) => {
    server.on('connection', socket => sockets.add(socket))
    servers.push(server)
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    return (server.address() as AddressInfo).port
  }
  const serve = async (answer: RequestListener) => `http://127.0.0.1:${await listen(createServer(answer))}`
  const get = (url: string, more: Partial<OutboundRequest> = {}, signal?: AbortSignal) =>
    outbound.request({ method: 'GET', url, timeoutMs: 5_000, ...more }, signal)
  const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => undefined,
      error => error,
    )

  it('sends an object as JSON and reads status, headers and text', async () => {
    const seen: string[] = []
    const url = await serve(async (request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers['content-type']}`, Buffer.concat(await request.toArray()).toString())
      response.writeHead(202, { 'X-Request-ID': 'r1' }).end('{"ok":true}')
    })
    const answer = await get(`${url}/a?b=c`, { method: 'POST', body: { text: '日本' } })
    expect(seen).to.deep.equal(['POST /a?b=c application/json', '{"text":"日本"}'])
    expect(answer).to.deep.include({ status: 202, text: '{"ok":true}', isCut: false })
    expect(answer.headers['x-request-id']).to.equal('r1')
  })

  it('follows no redirects', async () => {
    const url = await serve((_, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end())
    expect(await get(url)).to.include({ status: 302 })
  })

  it('cuts an answer that is longer than told', async () => {
    const url = await serve((_, response) => response.end('x'.repeat(100_000)))
    const answer = await get(url, { maxAnswerBytes: 10 })
    expect(answer).to.deep.include({ text: 'xxxxxxxxxx', isCut: true })
  })

  it('ends a request that is not answered in time, sent as it may be', async () => {
    const url = await serve(() => {})
    const error = await failureOf(get(url, { timeoutMs: 50 }))
    expect(error).to.be.instanceOf(TargetUnreachable).with.property('wasSent', true)
  })

  it('ends an answer that trickles', async () => {
    const url = await serve((_, response) => void response.writeHead(200).write('a'))
    expect(await failureOf(get(url, { timeoutMs: 50 })))
      .to.be.instanceOf(TargetUnreachable)
      .with.property('wasSent', true)
  })

  it('says that nothing was sent when the connection is refused', async () => {
    const port = await listen(createTcpServer())
    await new Promise(done => servers.pop()!.close(done))
    const error = await failureOf(get(`http://127.0.0.1:${port}/secret`))
    expect(error).to.be.instanceOf(TargetUnreachable).with.property('wasSent', false)
    expect(String(error)).to.include(`127.0.0.1:${port}: the connection is refused`).and.not.include('secret')
  })

  it('says in words that no TLS is spoken behind https', async () => {
    const port = await listen(createTcpServer(socket => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))))
    const error = await failureOf(get(`https://127.0.0.1:${port}`))
    expect(String(error))
      .to.include(`127.0.0.1:${port}: it does not speak TLS`)
      .and.not.match(/SSL routines|\n/)
  })

  it('says that something was sent when the connection breaks after that', async () => {
    const port = await listen(createTcpServer(socket => socket.once('data', () => socket.destroy())))
    const error = await failureOf(get(`http://127.0.0.1:${port}`, { method: 'POST', body: {} }))
    expect(error).to.be.instanceOf(TargetUnreachable).with.property('wasSent', true)
  })

  describe('interim answers that nobody asked for are no answer', () => {
    const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
    const serveBytes = async (...pieces: readonly string[]) => {
      let connections = 0
      const answer = async (socket: Socket) => {
        for (const piece of pieces) {
          socket.write(piece, 'latin1')
          await new Promise(done => setTimeout(done, pieces.length === 1 ? 0 : 5))
        }
      }
      const port = await listen(
        createTcpServer(socket => {
          connections++
          socket.setNoDelay()
          socket.on('data', bytes => /}$|^GET/.test(String(bytes)) && answer(socket))
        }),
      )
      return { url: `http://127.0.0.1:${port}`, connections: () => connections }
    }
    const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
    const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n'
    for (const { name, pieces } of [
      { name: 'none, for comparison', pieces: [OK] },
      { name: '100 Continue', pieces: [CONTINUE + OK] },
      { name: '100 Continue in a packet of its own', pieces: [CONTINUE, OK] },
      { name: '100 Continue with fields', pieces: [`HTTP/1.1 100 Continue\r\nserver: x\r\n\r\n${OK}`] },
      { name: '102 Processing', pieces: [`HTTP/1.1 102 Processing\r\n\r\n${OK}`] },
      { name: '103 Early Hints', pieces: [HINTS + OK] },
      { name: 'several of them', pieces: [CONTINUE, HINTS + CONTINUE, CONTINUE + OK] },
      { name: '100 Continue byte by byte', pieces: [...(HINTS + CONTINUE + HINTS + OK)] },
      { name: '100 Continue cut within its end', pieces: [CONTINUE.slice(0, -2), `\r\n${CONTINUE.slice(0, 10)}`, CONTINUE.slice(10) + OK] },
    ])
      it(name, async () => {
        const { url, connections } = await serveBytes(...pieces)
        // A kept connection is told of them anew.
        for (let i = 0; i < 6; i++)
          expect(await get(url, { method: 'POST', body: { text: 'x' } }), String(i)).to.include({ status: 200, text: 'ok' })
        expect(connections()).to.be.below(3)
      })

    it('one alone is none, and the request may have arrived', async () => {
      const { url } = await serveBytes(CONTINUE)
      const error = await failureOf(get(url, { timeoutMs: 100 }))
      expect(String(error)).to.include('no answer within 0.1 s')
      expect(error).to.have.property('wasSent', true)
    })

    it('a body that looks like one stays as it is', async () => {
      const body = `${CONTINUE}HTTP/1.1 100 `
      const { url } = await serveBytes(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`, CONTINUE, 'HTTP/1.1 100 ')
      expect(await get(url)).to.include({ status: 200, text: body })
    })

    it('over TLS, too', async () => {
      const { cert, key } = makeSelfSigned({
        commonName: 'localhost',
        hosts: ['localhost'],
        notBeforeMs: Date.now() - 1_000,
        notAfterMs: Date.now() + 60_000,
      })
      const server = createTlsServer({ cert, key }, (_, response) => {
        response.writeContinue()
        response.writeEarlyHints({ link: '</a.css>; rel=preload' })
        response.end('ok')
      })
      const port = await listen(server)
      const trusting = createOutboundHttp({ allowPrivate: true, ca: cert })
      try {
        const answer = await trusting.request({ method: 'POST', url: `https://localhost:${port}`, body: {}, timeoutMs: 5_000 })
        expect(answer).to.include({ status: 200, text: 'ok' })
      } finally {
        await trusting.close()
      }
    })
  })

  it('stops at once when told to', async () => {
    const stop = new AbortController()
    const url = await serve(() => stop.abort())
    expect(await failureOf(get(url, {}, stop.signal)))
      .to.be.instanceOf(TargetUnreachable)
      .with.property('wasSent', true)
    expect(await failureOf(get(url, {}, stop.signal)))
      .to.be.instanceOf(TargetUnreachable)
      .with.property('wasSent', false)
  })

  it('connects to the address that was checked, asking the resolver once', async () => {
    const port = Number(new URL(await serve((request, response) => response.end(request.headers.host))).port)
    const answers = ['127.0.0.1', '169.254.169.254']
    const addresses = createOutboundAddresses({ allowPrivate: true, lookup: async () => [{ address: answers.shift()!, family: 4 }] })
    const guarded = createOutboundHttp({ allowPrivate: true, addresses })
    try {
      const url = `http://rebinding.example.com:${port}/`
      expect((await guarded.request({ method: 'GET', url, timeoutMs: 5_000 })).text).to.equal(`rebinding.example.com:${port}`)
      expect(answers).to.deep.equal(['169.254.169.254'])
    } finally {
      await guarded.close()
    }
  })

  it('refuses a name that leads to a forbidden address', async () => {
    const addresses = createOutboundAddresses({ allowPrivate: false, lookup: async () => [{ address: '10.0.0.1', family: 4 }] })
    const guarded = createOutboundHttp({ allowPrivate: false, addresses })
    const error = await failureOf(guarded.request({ method: 'GET', url: 'https://internal.example.com/', timeoutMs: 5_000 }))
    await guarded.close()
    expect(error).to.be.instanceOf(TargetRefused)
    expect(String(error)).to.include('internal.example.com (10.0.0.1) may not be spoken to')
  })

  const REFUSED = [
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'not an address',
    'https://user:password@example.com/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://①②⑦.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
  ]
  for (const url of REFUSED)
    it(`refuses ${url}`, async () => {
      const guarded = createOutboundHttp({ allowPrivate: false })
      const error = await failureOf(guarded.request({ method: 'GET', url, timeoutMs: 1_000 }))
      await guarded.close()
      expect(error).to.be.instanceOf(TargetRefused)
      expect(String(error)).to.not.include('password@')
    })

  for (const url of ['http://169.254.169.254/', 'http://[fd00:ec2::254]/', 'http://0.0.0.0/', 'http://user:x@127.0.0.1/'])
    it(`refuses ${url} even where private targets are allowed`, async () => {
      expect(await failureOf(get(url))).to.be.instanceOf(TargetRefused)
    })

  it('refuses a port of the product itself, by address and by name, even where private targets are allowed', async () => {
    let asked = 0
    const url = new URL(await serve((_, response) => response.end(String(++asked))))
    const port = Number(url.port)
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
    const guard = (ownServers: readonly { host: string; port: number }[]) =>
      createOutboundHttp({ allowPrivate: true, addresses: createOutboundAddresses({ allowPrivate: true, ownServers, lookup }) })
    const [guarded, other] = [guard([{ host: '127.0.0.1', port }]), guard([{ host: '127.0.0.1', port: port + 1 }])]
    try {
      for (const host of ['127.0.0.1', '[::ffff:7f00:1]', 'tickets.example.com', '2130706433']) {
        const target = { method: 'GET', url: `http://${host}:${port}/_search`, timeoutMs: 5_000 } as const
        const error = await failureOf(guarded.request(target))
        expect(error, host).to.be.instanceOf(TargetRefused)
        expect(String(error), host).to.include(`:${port} may not be spoken to: it is a port of logpipeline itself`)
      }
      expect(asked).to.equal(0)
      const target = { method: 'GET', url: `http://tickets.example.com:${port}/`, timeoutMs: 5_000 } as const
      expect((await other.request(target)).text).to.equal('1')
    } finally {
      await Promise.all([guarded.close(), other.close()])
    }
  })

  it('refuses what HTTP cannot carry, without a word of it', async () => {
    const error = await failureOf(get('http://127.0.0.1:9/', { headers: { authorization: 'GenieKey se\r\ncret' } }))
    expect(error).to.be.instanceOf(TargetRefused)
    expect(String(error)).to.not.include('cret')
  })

  it('keeps few connections to one host and uses them again', async () => {
    let connections = 0
    const server = createServer((_, response) => void setImmediate(() => response.end('ok')))
    server.on('connection', () => connections++)
    const url = `http://127.0.0.1:${await listen(server)}`
    await Promise.all(Array.from({ length: 100 }, () => get(url)))
    expect(connections).to.be.at.most(8)
  })

  describe('over TLS', () => {
    const HOST = 'tickets.example.com'
    const DAY_MS = 86_400_000
    const [notBeforeMs, notAfterMs] = [Date.now() - DAY_MS, Date.now() + DAY_MS]
    const certificate = makeSelfSigned({ commonName: HOST, hosts: [HOST], notBeforeMs, notAfterMs })
    /** Whether the connection of each request went on with an earlier session. */
    let resumed: boolean[]
    /** Where the name leads. */
    let address: string

    beforeEach(() => {
      resumed = []
      address = '127.0.0.1'
      const lookup = async (host: string) => {
        if (host !== HOST) throw new Error('no such name')
        return [{ address, family: 4 }]
      }
      const addresses = createOutboundAddresses({ allowPrivate: true, lookup })
      outbound = createOutboundHttp({ allowPrivate: true, addresses, ca: certificate.cert })
    })

    /** A server that closes each connection after one answer. */
    const serveTls = async (version: SecureVersion) => {
      const server = createTlsServer({ ...certificate, minVersion: version, maxVersion: version }, (request, response) => {
        resumed.push((request.socket as TLSSocket).isSessionReused())
        response.writeHead(200, { connection: 'close' }).end()
      })
      return `https://${HOST}:${await listen(server)}/`
    }

    for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
      it(`resumes the session of an earlier connection to the same port: ${version}`, async () => {
        const [url, other] = [await serveTls(version), await serveTls(version)]
        for (const each of [url, url, other]) await get(each)
        expect(resumed).to.deep.equal([false, true, false])
      })

    it('refuses a certificate that nobody can trust, and says how to mend it; nothing was sent', async () => {
      const elsewhere = makeSelfSigned({ commonName: HOST, hosts: ['elsewhere.example.com'], notBeforeMs, notAfterMs })
      const expired = makeSelfSigned({ commonName: HOST, hosts: [HOST], notBeforeMs, notAfterMs: notBeforeMs + 1_000 })
      const authority = { ca: `${elsewhere.cert}${expired.cert}` }
      for (const [own, trusted, says] of [
        [certificate, {}, /is of an authority that is not trusted here .*NODE_EXTRA_CA_CERTS/],
        [elsewhere, authority, /is for another name .*elsewhere\.example\.com.*: configure/],
        [expired, authority, /certificate has expired: it has to be renewed/],
      ] as const) {
        let asked = 0
        const port = await listen(createTlsServer(own, (_, response) => void response.end(String(++asked))))
        const addresses = createOutboundAddresses({ allowPrivate: true, lookup: async () => [{ address, family: 4 }] })
        const guarded = createOutboundHttp({ allowPrivate: true, addresses, ...trusted })
        const error = await failureOf(guarded.request({ method: 'GET', url: `https://${HOST}:${port}/secret`, timeoutMs: 5_000 }))
        await guarded.close()
        expect(error).to.be.instanceOf(TargetRefused)
        expect(String(error))
          .to.match(says)
          .and.include(`${HOST}:${port}`)
          .and.not.match(/secret|system-ca/)
        expect(asked).to.equal(0)
      }
    })

    it('looks up and checks the address again for each connection, resumed ones as well', async () => {
      const url = await serveTls('TLSv1.3')
      await get(url)
      address = '169.254.169.254'
      expect(await failureOf(get(url))).to.be.instanceOf(TargetRefused)
      expect(resumed).to.deep.equal([false])
    })

    it('keeps the sessions of the sixteen ports that were used last', async () => {
      const url = await serveTls('TLSv1.3')
      const useOthers = async (ports: number) => {
        for (let port = 1; port <= ports; port++) await failureOf(get(`https://elsewhere.example.com:${port}/`))
      }
      await get(url)
      await useOthers(15)
      await get(url)
      await useOthers(16)
      await get(url)
      expect(resumed).to.deep.equal([false, true, false])
    })
  })
})
