import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { createFakeClock } from '../testing/fake-clock.ts'
import type { AuthConfig, ClusterAccess } from './cluster-access.ts'
import { createTransport, type Transport } from './http-transport.ts'

const GET = { asked: { verb: 'get', resource: 'pods' }, method: 'GET', path: '/x' } as const

describe('Requests over TLS', () => {
  let dir: string
  let server: Server
  let transport: Transport | undefined
  let seen: IncomingMessage[]
  /** What the server answers, the last again and again. */
  let statuses: number[]
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
    statuses = [200]
    client = makeCertificate('client')
    server = createServer(
      { ...makeCertificate('server'), ca: client.cert, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        seen.push(request)
        response.writeHead(statuses.length > 1 ? statuses.shift()! : statuses[0]!).end('{}')
      },
    )
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(async () => {
    await transport?.close()
    server.closeAllConnections()
    server.close()
  })

  const send = (auth: AuthConfig, tls: Partial<ClusterAccess['tls']> = {}) => {
    const clock = createFakeClock()
    const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const ca = readFileSync(join(dir, 'server.crt'), 'utf8')
    const access = { server: address, tls: { ca, insecure: false, ...tls }, auth, namespace: 'x' }
    transport = createTransport(access, { clock, rateLimit: { take: async () => {} }, userAgent: 'test' })
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

  it('says why credentials cannot be had', async () => {
    const refused = await send({ tokenFile: join(dir, 'none') })
    expect(refused.ok ? '' : refused.failure.message).to.match(/cannot get pods: ENOENT: .*none/)
    expect(seen).to.deep.equal([])
  })

  it('says that nobody listens', async () => {
    await new Promise(resolve => server.close(resolve))
    const clock = createFakeClock()
    const access = { server: 'http://127.0.0.1:1', tls: { insecure: false }, auth: {}, namespace: 'x' }
    transport = createTransport(access, { clock, rateLimit: { take: async () => {} }, userAgent: 'test' })
    const refused = await transport.send(GET)
    expect(refused.ok ? undefined : refused.failure).to.deep.include({ status: 0, reason: 'Unreachable' })
    expect(refused.ok ? '' : refused.failure.message).to.contain('ECONNREFUSED')
  })
})
