import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { createSecureServer as createHttp2Server } from 'node:http2'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { createFakeClock } from '../testing/fake-clock.ts'
import type { AuthConfig, ClusterAccess } from './cluster-access.ts'
import { type ApiTransport, createApiTransport } from './http-transport.ts'
import { eventually } from './testing/eventually.ts'

const GET = { asked: { verb: 'get', resource: 'pods' }, method: 'GET', path: '/x' } as const

describe('Requests over TLS', () => {
  let dir: string
  let server: Server
  let transport: ApiTransport | undefined
  let seen: IncomingMessage[]
  /** Names in the certificates that clients show. */
  let shownNames: unknown[]
  /** Statuses of the server's answers, the last again and again. */
  let statuses: number[]
  let body: string
  /** Answers begin, and go on for ever. */
  let isEndless: boolean
  let client: { cert: string; key: string }

  const makeCertificate = (name: string) => {
    const [key, cert] = [join(dir, `${name}.key`), join(dir, `${name}.crt`)]
    const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:kubernetes']
    const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1', ...subject]
    execFileSync('openssl', [...args, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  }

  before(function () {
    dir = mkdtempSync(join(tmpdir(), 'kube-tls-'))
    try {
      execFileSync('openssl', ['version'], { stdio: 'ignore' })
    } catch {
      this.skip()
    }
  })
  after(() => rmSync(dir, { recursive: true }))

  beforeEach(async () => {
    seen = []
    shownNames = []
    statuses = [200]
    body = '{}'
    isEndless = false
    client = makeCertificate('client')
    server = createServer(
      { ...makeCertificate('server'), ca: client.cert, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        seen.push(request)
        shownNames.push((request.socket as TLSSocket).getPeerCertificate().subject?.CN)
        response.writeHead(statuses.length > 1 ? statuses.shift()! : statuses[0]!)
        if (isEndless) response.write('{}')
        else response.end(body)
      },
    )
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(async () => {
    await transport?.close()
    server.closeAllConnections()
    server.close()
  })

  const send = (auth: AuthConfig, tls: Partial<ClusterAccess['tls']> = {}, more: Partial<ClusterAccess> = {}) => {
    const clock = createFakeClock()
    const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const ca = readFileSync(join(dir, 'server.crt'), 'utf8')
    const access = { server: address, tls: { ca, insecure: false, ...tls }, auth, namespace: 'x', ...more }
    transport = createApiTransport(access, { clock, rateLimit: { take: async () => {} }, userAgent: 'test' })
    return transport.send(GET)
  }

  it('trusts the authority of the cluster alone', async () => {
    expect(await send({})).to.have.property('ok', true)
    const refused = await send({}, { ca: makeCertificate('other').cert })
    expect(refused.ok ? '' : refused.failure.message).to.match(/cannot get pods: .*self-signed certificate/)
    expect(await send({}, { ca: makeCertificate('other').cert, insecure: true })).to.have.property('ok', true)
    expect(await send({}, { serverName: 'kubernetes' })).to.have.property('ok', true)
    expect(await send({}, { serverName: 'elsewhere' })).to.have.property('ok', false)
  })

  it('shows the certificate of the client, or its token', async () => {
    await send({ certificate: client })
    const socket = seen[0]!.socket as TLSSocket
    expect([socket.authorized, socket.getPeerCertificate().subject.CN]).to.deep.equal([true, 'client'])
    await send({ token: 'secret' })
    expect(seen[1]!.headers).to.include({ authorization: 'Bearer secret', 'user-agent': 'test' })
    await send({ basic: { username: 'u', password: 'p' } })
    expect(seen[2]!.headers).to.include({ authorization: 'Basic dTpw' })
  })

  it('gets new credentials once when the old ones are refused', async () => {
    statuses = [401, 200]
    expect(await send({ token: 'old' })).to.have.property('ok', true)
    expect(seen).to.have.length(2)
    statuses = [401]
    const refused = await send({ token: 'old' })
    expect(refused.ok ? undefined : refused.failure).to.include({
      status: 401,
      advice: 'the credentials are not accepted: check the service account token or the kubeconfig',
    })
    expect(seen).to.have.length(4)
  })

  it('goes on after authority and certificates were replaced: at once when it cannot reach anybody, else within a minute', async () => {
    const clock = createFakeClock()
    const address = () => `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const files = { ca: readFileSync(join(dir, 'server.crt'), 'utf8'), certificate: client, serverUrl: address() }
    const load = (): ClusterAccess => {
      const { ca, certificate, serverUrl } = files
      return { server: serverUrl, tls: { ca, insecure: false }, auth: { certificate }, namespace: 'x' }
    }
    const rateLimit = { take: async () => {} }
    transport = createApiTransport({ ...load(), reread: load }, { clock, rateLimit, userAgent: 'test' })
    expect(await transport.send(GET)).to.have.property('ok', true)
    const other = makeCertificate('other')
    server.setSecureContext({ ...other, ca: other.cert })
    files.ca = other.cert
    files.certificate = other
    server.closeAllConnections()
    clock.advance(1000)
    expect(await transport.send(GET), 'tried again with what the files hold').to.have.property('ok', true)
    expect(shownNames.at(-1)).to.equal('other')
    files.certificate = client
    clock.shiftTimeOfDay(-3_600_000)
    clock.advance(59_999)
    await transport.send(GET)
    clock.advance(1)
    await transport.send(GET)
    expect(shownNames.slice(-2)).to.deep.equal(['other', 'client'])
    files.serverUrl = 'https://192.0.2.1'
    clock.advance(60_000)
    expect(await transport.send(GET), 'another cluster is none of our business').to.have.property('ok', true)
  })

  it('cuts what runs over older connections, too, when it is closed', async () => {
    const clock = createFakeClock()
    let certificate = client
    const ca = readFileSync(join(dir, 'server.crt'), 'utf8')
    const server_ = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const load = (): ClusterAccess => ({ server: server_, tls: { ca, insecure: false }, auth: { certificate }, namespace: 'x' })
    const own = createApiTransport({ ...load(), reread: load }, { clock, rateLimit: { take: async () => {} }, userAgent: 'test' })
    isEndless = true
    const watch = await own.open(GET)
    if (!watch.ok) throw new Error(watch.failure.message)
    certificate = makeCertificate('later')
    clock.advance(60_000)
    isEndless = false
    await own.send(GET)
    await own.close()
    const read = async () => {
      for await (const _ of watch.value);
    }
    expect(await read().catch((error: unknown) => error)).to.be.instanceOf(Error)
  })

  it('leaves a connection on which no answer comes in time, as one that died without a word: with HTTP/2 all others would wait on it, too', async () => {
    const http2 = createHttp2Server({ ...makeCertificate('http2') }, (_request, response) => response.end('{}'))
    await new Promise<void>(resolve => http2.listen(0, '127.0.0.1', resolve))
    const relay = await startRelay((http2.address() as AddressInfo).port)
    const clock = createFakeClock()
    const ca = readFileSync(join(dir, 'http2.crt'), 'utf8')
    const access = { server: `https://127.0.0.1:${relay.port}`, tls: { ca, insecure: false }, auth: {}, namespace: 'x' }
    transport = createApiTransport(access, { clock, rateLimit: { take: async () => {} }, userAgent: 'test' })
    await transport.send(GET)
    expect(await transport.send(GET)).to.have.property('ok', true)
    expect(relay.connections()).to.equal(1)
    relay.freeze()
    const lost = transport.send(GET)
    await eventually('it is sent', () => relay.dropped() > 0)
    clock.advance(30_000)
    expect(await lost).to.have.nested.property('failure.reason', 'Timeout')
    expect(await transport.send(GET), 'the next one').to.have.property('ok', true)
    expect(relay.connections()).to.equal(2)
    await eventually('the dead one is closed', () => relay.open() === 1)
    await transport.close()
    await eventually('both are closed', () => relay.open() === 0)
    relay.stop()
    http2.close()
  })

  it('acts as somebody else: each group and each value in a header of its own', async () => {
    const impersonation = { user: 'jane', uid: '7', groups: ['dev', 'ops, all'], extra: { 'acme.com/Team': ['red', 'blue'] } }
    await send({ token: 't' }, {}, { impersonation })
    const { rawHeaders, httpVersion } = seen[0]!
    const pairs = rawHeaders.flatMap((name, n) => (n % 2 === 0 && /^impersonate/i.test(name) ? [`${name}: ${rawHeaders[n + 1]}`] : []))
    expect(pairs).to.deep.equal([
      'impersonate-user: jane',
      'impersonate-uid: 7',
      'impersonate-group: dev',
      'impersonate-group: ops, all',
      'impersonate-extra-acme.com%2fteam: red',
      'impersonate-extra-acme.com%2fteam: blue',
    ])
    expect(httpVersion).to.equal('1.1')
  })

  it('goes through a proxy, and names it where that does not work', async () => {
    const connects: string[] = []
    const proxy = createHttpServer()
    proxy.on('connect', ({ url, headers }, socket) => {
      connects.push(`${url} ${headers['proxy-authorization']}`)
      const [, port] = url!.split(':')
      const upstream = connect(Number(port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        socket.pipe(upstream).pipe(socket)
      })
      for (const end of [upstream, socket]) end.on('error', () => {})
    })
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
    const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
    expect(await send({ certificate: client }, {}, { proxyUrl: `http://u:p@${host}` })).to.have.property('ok', true)
    expect(connects).to.deep.equal([`127.0.0.1:${(server.address() as AddressInfo).port} Basic dTpw`])
    expect((seen[0]!.socket as TLSSocket).getPeerCertificate().subject.CN).to.equal('client')
    await transport?.close()
    await new Promise(resolve => proxy.close(resolve))
    const refused = await send({}, {}, { proxyUrl: `http://u:p@${host}` })
    expect(refused.ok ? '' : refused.failure.message).to.match(/ECONNREFUSED.* \(through the proxy 127\.0\.0\.1:\d+\)$/)
  })

  it('says which right impersonation lacks', async () => {
    statuses = [403]
    body = JSON.stringify({
      kind: 'Status',
      reason: 'Forbidden',
      message: 'groups "ops" is forbidden: User "jane" cannot impersonate resource "groups" in API group "" at the cluster scope',
    })
    const refused = await send({ token: 't' })
    expect(refused.ok ? undefined : refused.failure.advice).to.equal(
      'grant jane the RBAC rule {apiGroups: [""], resources: ["groups"], verbs: ["impersonate"]} in all namespaces',
    )
  })

  it('says why credentials cannot be had', async () => {
    const refused = await send({ tokenFile: join(dir, 'none') })
    expect(refused.ok ? '' : refused.failure.message).to.match(/cannot get pods: ENOENT: .*none/)
    expect(seen).to.deep.equal([])
  })

  it('says that nobody listens', async () => {
    await new Promise(resolve => server.close(resolve))
    const clock = createFakeClock()
    const access = { server: 'http://127.0.0.1:1', tls: { insecure: false }, auth: {}, namespace: 'x' }
    transport = createApiTransport(access, { clock, rateLimit: { take: async () => {} }, userAgent: 'test' })
    const refused = await transport.send(GET)
    expect(refused.ok ? undefined : refused.failure).to.deep.include({ status: 0, reason: 'Unreachable' })
    expect(refused.ok ? '' : refused.failure.message).to.contain('ECONNREFUSED')
  })
})

/** Stands between client and server. What comes over a frozen connection is dropped, in both directions, and neither end hears of it. */
async function startRelay(serverPort: number) {
  const frozen = new WeakSet<object>()
  const open = new Set<object>()
  let connections = 0
  let dropped = 0
  const server = createTcpServer(client => {
    connections += 1
    open.add(client)
    const upstream = connect(serverPort, '127.0.0.1')
    client.on('data', bytes => {
      if (frozen.has(client)) dropped += 1
      else upstream.write(bytes)
    })
    upstream.on('data', bytes => {
      if (!frozen.has(client)) client.write(bytes)
    })
    for (const end of [client, upstream]) end.on('error', () => {})
    client.on('close', () => {
      open.delete(client)
      upstream.destroy()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    dropped: () => dropped,
    open: () => open.size,
    freeze() {
      for (const client of open) frozen.add(client)
    },
    stop: () => void server.close(),
  }
}
