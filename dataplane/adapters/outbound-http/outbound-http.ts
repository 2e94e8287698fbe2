/** Requests to addresses that users configured, guarded against server-side request forgery, with undici. */
import { isIP, type LookupFunction } from 'node:net'
import type { buildConnector, Dispatcher } from 'undici'
import { ALLOWED_BY } from '../../contract/private-targets.ts'
import { withInterimAnswers } from '../../http/interim-answers.ts'
import type { ProxyEnvironment } from '../../http/proxy-choice.ts'
import { keepBounded } from '../../limits/keep-bounded.ts'
import type { OutboundAddresses } from '../../ports/outbound-addresses.ts'
import {
  type OutboundAnswer,
  type OutboundHttp,
  type OutboundRequest,
  TargetRefused,
  TargetUnreachable,
} from '../../ports/outbound-http.ts'
import { atFirstUse } from '../../process/at-first-use.ts'
import { certificateProblem } from '../../text/certificate-problem.ts'
import { CONNECTION_WORDS } from '../../text/connection-words.ts'
import { portOf } from '../../text/port-of.ts'
import { createOutboundAddresses } from './outbound-addresses.ts'
import { createProxyWays } from './proxy-ways.ts'

const CONNECT_MS = 10_000
/** At once to one origin; more requests wait within their time. */
const MAX_CONNECTIONS = 8
const MAX_ORIGINS = 1_000
/** Ports whose TLS sessions are kept, of as many hosts at each. The port that was used longest ago is forgotten. */
const MAX_PORTS = 16
const MAX_SESSIONS = 100
/** An idle connection is closed after this, its pool with the last one. */
const IDLE_MS = 4_000
const MAX_ANSWER_BYTES = 1_048_576
const MAX_HEADER_BYTES = 16_384
const POOLS = {
  connections: MAX_CONNECTIONS,
  maxOrigins: MAX_ORIGINS,
  keepAliveTimeout: IDLE_MS,
  keepAliveMaxTimeout: IDLE_MS,
  maxHeaderSize: MAX_HEADER_BYTES,
  // The time of the whole request is what counts, in `exchange`.
  headersTimeout: 0,
  bodyTimeout: 0,
} as const

export interface OutboundHttpConfig {
  /** Plain http, loopback and private networks, too. */
  readonly allowPrivate: boolean
  readonly addresses?: OutboundAddresses
  /** Names the proxies that requests go through. Default: none. */
  readonly proxies?: ProxyEnvironment
  /** For tests: certificate authorities beside the system's. */
  readonly ca?: string
}

export function createOutboundHttp({
  allowPrivate,
  addresses = createOutboundAddresses({ allowPrivate }),
  proxies = {},
  ca,
}: OutboundHttpConfig): OutboundHttp {
  const lookupAt =
    (port: number): LookupFunction =>
    (host, options, done) => {
      addresses.resolve(host, port).then(
        found => (options.all ? done(null, [...found]) : done(null, found[0]!.address, found[0]!.family)),
        error => done(error, ''),
      )
    }
  const trust = ca === undefined ? {} : { ca }
  const direct = atFirstUse(async () => {
    const { Agent, buildConnector } = await import('undici')
    const connectorAt = perPort(port =>
      withInterimAnswers(
        buildConnector({ timeout: CONNECT_MS, allowH2: false, maxCachedSessions: MAX_SESSIONS, lookup: lookupAt(port), ...trust }),
      ),
    )
    return new Agent({ ...POOLS, connect: (to, done) => connectorAt(portOf(to))(to, done) })
  })
  const proxyWays = createProxyWays({
    ...{ proxies, addresses },
    async open(uri) {
      const { ProxyAgent } = await import('undici')
      const requestTls = { allowH2: false, maxCachedSessions: MAX_SESSIONS, ...trust }
      return new ProxyAgent({ ...POOLS, uri, connectTimeout: CONNECT_MS, requestTls })
    },
  })

  return {
    async request(request, signal) {
      const url = checkUrl(request.url, allowPrivate)
      // The look-up of names is checked when the connection is made. Literal addresses have none.
      const literal = url.hostname.replace(/^\[|\]$/g, '')
      if (isIP(literal) !== 0) await addresses.resolve(literal, portOf(url))
      const way = await proxyWays.to(url)
      if (way === undefined) return await exchange(await direct.open(), url, request, signal)
      return await exchange(way.dispatcher, url, request, signal, `through the proxy ${way.proxy}: `)
    },
    async close() {
      await Promise.all([direct.close(agent => agent.destroy()), proxyWays.close()])
    },
  }
}

/** A connector for each port, as look-ups of Node are not told the port. Each has the TLS sessions of its port. */
function perPort(make: (port: number) => buildConnector.connector): (port: number) => buildConnector.connector {
  const made = new Map<number, buildConnector.connector>()
  return port => {
    const connector = made.get(port) ?? make(port)
    keepBounded(made, port, connector, MAX_PORTS)
    return connector
  }
}

/** The address as the WHATWG reads it: `http://2130706433` is 127.0.0.1. No message repeats the path, which may be a secret. */
function checkUrl(text: string, allowPrivate: boolean): URL {
  const url = URL.parse(text)
  if (url === null) throw new TargetRefused('expected an absolute address such as https://example.com, seen something else')
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new TargetRefused(`expected an address with https, seen ${url.protocol.slice(0, -1)}`)
  if (url.protocol === 'http:' && !allowPrivate)
    throw new TargetRefused(`expected an address with https, seen http (${url.hostname}); ${ALLOWED_BY} allows it`)
  if (url.username !== '' || url.password !== '')
    throw new TargetRefused(`expected an address without user and password, seen some (${url.hostname}); they have fields of their own`)
  return url
}

/** `way` stands before the reason of a failure. */
function exchange(
  dispatcher: Dispatcher,
  url: URL,
  request: OutboundRequest,
  signal: AbortSignal | undefined,
  way = '',
): Promise<OutboundAnswer> {
  const { method, timeoutMs, maxAnswerBytes = MAX_ANSWER_BYTES } = request
  const body = typeof request.body === 'object' ? JSON.stringify(request.body) : request.body
  const headers = { ...(typeof request.body === 'object' && { 'content-type': 'application/json' }), ...request.headers }
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let isOver = false
    let status = 0
    let answerHeaders: Readonly<Record<string, string>> = {}
    const chunks: Buffer[] = []
    let bytes = 0

    const end = (settle: () => void) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      settle()
    }
    /** Without a controller nothing was written yet, and nothing will be: the handler aborts at its start. */
    const fail = (why: string, cause?: unknown) =>
      end(() => {
        reject(new TargetUnreachable(`${url.host}: ${way}${why}`, controller !== undefined, { cause }))
        controller?.abort(new Error(why))
      })
    const finish = (isCut: boolean) =>
      end(() => {
        resolve({ status, headers: answerHeaders, text: Buffer.concat(chunks).toString(), isCut })
        if (isCut) controller?.abort(new Error('the answer is too long'))
      })
    const onAbort = () => fail('given up by the caller')
    const timer = setTimeout(() => fail(`no answer within ${timeoutMs / 1_000} s`), timeoutMs)
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort)

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        if (isOver) return started.abort(new Error('given up before it was sent'))
        controller = started
      },
      onResponseStart(_, statusCode, seen) {
        status = statusCode
        answerHeaders = Object.fromEntries(Object.entries(seen).map(([name, value]) => [name.toLowerCase(), String(value)]))
      },
      onResponseData(_, chunk) {
        if (isOver) return
        chunks.push(bytes + chunk.length > maxAnswerBytes ? chunk.subarray(0, maxAnswerBytes - bytes) : chunk)
        bytes += chunk.length
        if (bytes > maxAnswerBytes) finish(true)
      },
      onResponseEnd: () => finish(false),
      onResponseError(_, error) {
        const known = refusalIn(error, url)
        if (known === undefined) fail(describe(error), error)
        else end(() => reject(known))
      },
    }
    dispatcher.dispatch(
      { origin: url.origin, path: url.pathname + url.search, method, headers, ...(body !== undefined && { body }) },
      handler,
    )
  })
}

/**
 * The result of the look-up, wherever undici and Node put it; a header that HTTP cannot carry, such as a key with a line break in it; a certificate that
 * nobody can trust.
 */
function refusalIn(error: unknown, url: URL): TargetRefused | TargetUnreachable | undefined {
  if (error instanceof Error && codeOf(error) === 'UND_ERR_INVALID_ARG')
    return new TargetRefused(`${url.host}: the request cannot be written: ${error.message}`)
  const certificate = error instanceof Error ? certificateProblem(error.message) : undefined
  if (certificate !== undefined) return new TargetRefused(`${url.host}: ${certificate}`)
  for (let each = error, depth = 0; each instanceof Error && depth < 5; each = each.cause, depth++)
    if (each instanceof TargetRefused || each instanceof TargetUnreachable) return each
  return undefined
}

const NO_TLS = 'it does not speak TLS: the address should begin with http:, or have another port'
const WORDS = new Map([
  ...CONNECTION_WORDS,
  ...Object.entries({
    ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
    ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
    UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
    UND_ERR_SOCKET: 'the connection was closed before the answer',
    UND_ERR_MAX_ORIGINS_REACHED: 'too many hosts are spoken to at this time',
  }),
])

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  const code = codeOf(error)
  return code === undefined ? error.message : (WORDS.get(code) ?? `${error.message} (${code})`)
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && error.code !== undefined ? String(error.code) : undefined
}
