import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { ProxyEnvironment } from '../../http/proxy-choice.ts'
import { type OutboundHttp, type OutboundRequest, TargetRefused, TargetUnreachable } from '../../ports/outbound-http.ts'
import { makeSelfSigned } from '../../roles/gateway/tls/self-signed.ts'
import { createOutboundAddresses } from './outbound-addresses.ts'
import { createOutboundHttp } from './outbound-http.ts'

const HOST = 'tickets.example.com'
const DAY_MS = 86_400_000
const certificate = makeSelfSigned({
  ...{ commonName: HOST, hosts: [HOST] },
  ...{ notBeforeMs: Date.now() - DAY_MS, notAfterMs: Date.now() + DAY_MS },
})

describe('outbound HTTP through a proxy', () => {
  const servers: Server[] = []
  const sockets = new Set<Socket>()
  const clients: OutboundHttp[] = []
  /** Requests that the proxy saw: method, target, authorization. */
  let seen: string[]
  /** Where the proxy leads all names, and the status with which it answers `CONNECT`. */
  let proxy: { readonly port: number; targetPort: number; status: number }

  const listen = async (server: Server) => {
    server.on('connection', (socket: Socket) => sockets.add(socket))
    servers.push(server)
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    return (server.address() as AddressInfo).port
  }
  const startProxy = async () => {
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization']}`)
      response.end('forwarded')
    })
    server.on('connect', (request, client: Socket) => {
      sockets.add(client)
      seen.push(`CONNECT ${request.url} ${request.headers['proxy-authorization']}`)
      if (proxy.status !== 200) return client.end(`HTTP/1.1 ${proxy.status} Refused\r\ncontent-length: 0\r\n\r\n`)
      const target = connect(proxy.targetPort, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'))
      sockets.add(target)
      client.pipe(target).pipe(client)
    })
    return await listen(server)
  }
  const startTarget = async (answer: RequestListener) => {
    proxy.targetPort = await listen(createTlsServer(certificate, answer))
  }

  beforeEach(async () => {
    seen = []
    proxy = { port: await startProxy(), targetPort: 0, status: 200 }
  })
  afterEach(async () => {
    await Promise.all(clients.splice(0).map(client => client.close()))
    for (const socket of sockets) socket.destroy()
    await Promise.all(servers.splice(0).map(server => new Promise(done => server.close(done))))
  })

  const NOBODY = async () => Promise.reject(new Error('no such name'))
  interface Client {
    readonly proxies?: ProxyEnvironment
    readonly allowPrivate?: boolean
    readonly lookup?: Parameters<typeof createOutboundAddresses>[0]['lookup']
  }
  const createClient = ({ proxies, allowPrivate = false, lookup = NOBODY }: Client = {}) => {
    const addresses = createOutboundAddresses({ allowPrivate, lookup })
    const all = proxies ?? { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
    const client = createOutboundHttp({ allowPrivate, addresses, proxies: all, ca: certificate.cert })
    clients.push(client)
    return client
  }
  const get = (client: OutboundHttp, url: string, more: Partial<OutboundRequest> = {}) =>
    client.request({ method: 'GET', url, timeoutMs: 5_000, ...more })
  const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => undefined,
      error => error,
    )

  it('https goes through a tunnel, to a name that is not known here, with what the address of the proxy says of its user', async () => {
    await startTarget(async (request, response) => {
      response.end(`${request.method} ${request.url} ${Buffer.concat(await request.toArray())}`)
    })
    const client = createClient({ proxies: { https_proxy: `http://ada:se%2Fcret@127.0.0.1:${proxy.port}` } })
    const answer = await get(client, `https://${HOST}/v2/enqueue?a=b`, { method: 'POST', body: { text: '日本' } })
    expect(answer).to.include({ status: 200, text: 'POST /v2/enqueue?a=b {"text":"日本"}' })
    expect(seen).to.deep.equal([`CONNECT ${HOST}:443 Basic ${Buffer.from('ada:se/cret').toString('base64')}`])
  })

  it('plain http, where it is allowed, is asked of the proxy', async () => {
    const client = createClient({ allowPrivate: true, proxies: { HTTP_PROXY: `127.0.0.1:${proxy.port}` } })
    expect(await get(client, `http://${HOST}/a`)).to.include({ status: 200, text: 'forwarded' })
    expect(seen).to.deep.equal([`GET http://${HOST}/a undefined`])
  })

  it('names of NO_PROXY and this machine are asked without it', async () => {
    const port = await listen(createServer((_, response) => void response.end('direct')))
    const proxies = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: '.example.com' }
    const client = createClient({ allowPrivate: true, proxies, lookup: async () => [{ address: '127.0.0.1', family: 4 }] })
    for (const host of [HOST, 'localhost', '127.0.0.1']) expect(await get(client, `http://${host}:${port}/`)).to.include({ text: 'direct' })
    expect(seen).to.deep.equal([])
  })

  it('addresses that nobody may speak to are refused as without it: by number, and by a name that is known here', async () => {
    const client = createClient({ lookup: async () => [{ address: '10.0.0.7', family: 4 }] })
    for (const host of ['10.0.0.7', '169.254.169.254', 'intranet.example.com']) {
      const error = await failureOf(get(client, `https://${host}/`))
      expect(error).to.be.instanceOf(TargetRefused)
      expect((error as Error).message).to.include('may not be spoken to')
    }
    expect(seen).to.deep.equal([])
  })

  it('a name server that does not answer holds a request up for a second', async () => {
    await startTarget((_, response) => void response.end('ok'))
    const began = performance.now()
    expect(await get(createClient({ lookup: () => new Promise(() => undefined) }), `https://${HOST}/`)).to.include({ text: 'ok' })
    expect(performance.now() - began).to.be.within(900, 4_000)
  })

  for (const [status, says] of [
    [403, /tickets\.example\.com: through the proxy 127\.0\.0\.1:\d+: .*403/],
    [407, /tickets\.example\.com: through the proxy 127\.0\.0\.1:\d+: .*407/],
  ] as const)
    it(`a proxy that answers ${status} is named, and nothing was sent`, async () => {
      proxy.status = status
      const error = await failureOf(get(createClient(), `https://${HOST}/secret`))
      expect(error).to.be.instanceOf(TargetUnreachable).and.to.include({ wasSent: false })
      expect((error as Error).message)
        .to.match(says)
        .and.not.include('secret')
    })

  it('a proxy that is not there is named', async () => {
    const client = createClient({ proxies: { HTTPS_PROXY: 'http://127.0.0.1:1' } })
    const error = await failureOf(get(client, `https://${HOST}/`))
    expect(error).to.be.instanceOf(TargetUnreachable).and.to.include({ wasSent: false })
    expect((error as Error).message).to.match(/through the proxy 127\.0\.0\.1:1: .*refused/)
  })

  it('a variable that names no proxy is told, without what it holds', async () => {
    const error = await failureOf(get(createClient({ proxies: { HTTPS_PROXY: 'ftp://ada:secret@proxy' } }), `https://${HOST}/`))
    expect(error).to.be.instanceOf(TargetRefused)
    expect((error as Error).message)
      .to.match(/^HTTPS_PROXY: expected the URL of a proxy/)
      .and.not.include('secret')
  })

  it('of a target whose certificate is not trusted nothing is asked', async () => {
    let asked = 0
    const other = makeSelfSigned({
      ...{ commonName: 'other', hosts: ['other.example.com'] },
      ...{ notBeforeMs: Date.now() - DAY_MS, notAfterMs: Date.now() + DAY_MS },
    })
    proxy.targetPort = await listen(createTlsServer(other, (_, response) => void response.end(String(++asked))))
    const error = await failureOf(get(createClient(), `https://${HOST}/`))
    expect(error).to.be.instanceOf(TargetRefused)
    expect(asked).to.equal(0)
  })
})
