/** A gateway on free ports before a collector, an embedded search store and back ends that tell what they were asked. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { connect, constants, type OutgoingHttpHeaders } from 'node:http2'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { systemClock } from '../../../adapters/clock/system-clock.ts'
import { type ApiKeyStore, createApiKeyStore } from '../../../api-keys/key-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { type EmbeddedSearchStore, startEmbeddedSearchStore } from '../../../testing/embedded-search-store.ts'
import { type Harness as CollectorHarness, startHarness as startCollectorHarness } from '../../collector/testing/collector-harness.ts'
import { BACK_ENDS, type BackEnd } from '../back-ends.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import type { GatewayConfig } from '../gateway-config.ts'
import { type Certificate, selfSigned } from '../tls/certificate.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers field by field
  json(): any
}

export interface Asked {
  readonly backEnd: string
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Call {
  readonly method?: string
  readonly key?: string | undefined
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Uint8Array | object
  readonly http2?: boolean
}

export interface Harness {
  readonly gateway: Gateway
  readonly certificate: Certificate
  readonly collector: CollectorHarness
  readonly search: EmbeddedSearchStore
  readonly keys: ApiKeyStore
  /** A key of tenant `acme`. */
  readonly key: string
  readonly foreignKey: string
  readonly adminKey: string
  /** Requests that reached the back ends. */
  readonly asked: Asked[]
  /** With the key of `acme` unless the call says otherwise; the path is sent as it is written. */
  call(path: string, call?: Call): Promise<Answer>
  /** The answer that comes back within a moment for these bytes, over HTTP/1.1. */
  raw(text: string): Promise<string>
  stop(): Promise<void>
}

/** `isLocal`: exports go to the collector without another connection, as in a standalone. */
export async function startHarness(config: Partial<GatewayConfig> = {}, searchEndpoint?: string, isLocal = false): Promise<Harness> {
  const collector = await startCollectorHarness()
  const search = await startEmbeddedSearchStore()
  const keys = config.keys ?? createApiKeyStore({ store: search.store, clock: systemClock })
  const asked: Asked[] = []
  const servers: Server[] = []
  const startEcho = async (backEnd: string) => {
    const server = createServer((received, response) => {
      const pieces: Buffer[] = []
      received.on('data', piece => pieces.push(piece))
      received.on('end', () => {
        const { method = '', url = '', headers } = received
        asked.push({ backEnd, method, url, headers, body: Buffer.concat(pieces).toString() })
        response
          .writeHead(200, {
            ...{ 'content-type': 'application/json', 'cache-control': 'public, max-age=60' },
            ...{ connection: 'x-of-hop', 'x-of-hop': '1' },
          })
          .end(JSON.stringify({ backEnd, url }))
      })
    })
    servers.push(server)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const backEnds = {} as Record<BackEnd, string>
  for (const name of BACK_ENDS) backEnds[name] = await startEcho(name)
  const certificate = selfSigned('127.0.0.1', systemClock)
  const gateway = await startGateway({
    ...{ keys, certificate, backEnds, adminTenants: new Set(['root']), maxRequestBytes: 4 << 20, maxPendingBytes: 64 << 20 },
    collector: {
      ...{ http: collector.httpUrl, grpc: `http://127.0.0.1:${collector.grpcPort}` },
      local: isLocal ? collector.collector : undefined,
    },
    search: { endpoint: searchEndpoint ?? search.endpoint },
    ...{ host: '127.0.0.1', port: 0, healthPort: 0, clock: systemClock, log: SILENT },
    ...config,
  })
  const made = async (tenant: string) => (await keys.create(tenant, 'test'))!.key
  const [key, foreignKey, adminKey] = [await made('acme'), await made('globex'), await made('root')]
  return {
    ...{ gateway, certificate, collector, search, keys, key, foreignKey, adminKey, asked },
    call(path, call = {}) {
      const sent = { ...('key' in call ? {} : { key }), ...call }
      return (call.http2 ? callHttp2 : callHttp1)(gateway.port, certificate.cert, path, sent)
    },
    raw: text => sendRaw(gateway.port, certificate.cert, text),
    async stop() {
      await gateway.stop()
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
      await collector.collector.stop()
      await search.stop()
    },
  }
}

function bodyOf(body: Call['body']): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

function headersOf({ key, headers = {}, body }: Call): OutgoingHttpHeaders {
  return {
    ...(key !== undefined && { 'x-service-api-key': key }),
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': bodyOf(body)!.length }),
    ...headers,
  }
}

function answerOf(status: number, headers: IncomingHttpHeaders, pieces: readonly Buffer[]): Answer {
  const body = Buffer.concat(pieces)
  return { status, headers, body, json: () => JSON.parse(body.toString()) }
}

/** Longest that an answer takes to begin, and to go on. */
const RAW_IDLE_MS = 300

function sendRaw(port: number, ca: string, text: string): Promise<string> {
  return new Promise(resolve => {
    let received = ''
    const socket = connectTls({ host: '127.0.0.1', port, ca, ALPNProtocols: ['http/1.1'] }, () => {
      socket.setTimeout(RAW_IDLE_MS, () => socket.destroy()).write(text, 'latin1')
    })
    socket.on('data', piece => {
      received += piece
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(received))
  })
}

function callHttp1(port: number, ca: string, path: string, call: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method = call.body === undefined ? 'GET' : 'POST' } = call
    const sent = request(
      { host: '127.0.0.1', port, ca, path, method, headers: headersOf(call) as Record<string, string>, agent: false },
      response => {
        const pieces: Buffer[] = []
        response.on('data', piece => pieces.push(piece))
        response.on('end', () => resolve(answerOf(response.statusCode!, response.headers, pieces)))
        response.on('error', reject)
      },
    )
    sent.on('error', reject)
    sent.end(bodyOf(call.body))
  })
}

function callHttp2(port: number, ca: string, path: string, call: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const session = connect(`https://127.0.0.1:${port}`, { ca })
    session.on('error', reject)
    const { method = call.body === undefined ? 'GET' : 'POST' } = call
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: method,
      [constants.HTTP2_HEADER_PATH]: path,
      ...headersOf(call),
    })
    const pieces: Buffer[] = []
    let head: IncomingHttpHeaders & { readonly ':status'?: number | undefined } = {}
    stream.on('response', received => {
      head = received
    })
    stream.on('data', (piece: Buffer) => pieces.push(piece))
    stream.on('error', reject)
    stream.on('close', () => {
      session.close()
      resolve(answerOf(Number(head[':status']), head, pieces))
    })
    stream.end(bodyOf(call.body))
  })
}
