/** Sends single requests to the API server: credentials, rate limit, time limits, 429. */
import { Agent, type Dispatcher, ProxyAgent, request } from 'undici'
import { type Clock, monotonicMs } from '../ports/clock.ts'
import { type ApiAnswer, type ApiFailure, type Asked, failureOf, NO_ANSWER, noAnswer } from './api-failure.ts'
import type { ClusterAccess } from './cluster-access.ts'
import { type Headers, hasRepeatedHeaders, impersonationHeaders } from './impersonation.ts'
import { createLiveAccess, type Way } from './live-access.ts'
import type { RateLimit } from './rate-limit.ts'

export interface TransportDeps {
  readonly clock: Clock
  readonly rateLimit: Pick<RateLimit, 'take'>
  readonly userAgent: string
  /** Asked right before each request that writes. The request is not made where the answer is no. */
  readonly mayWrite?: () => boolean
  /** Called for every answer, and with status 0 when there is none. */
  readonly onRequest?: (request: { readonly asked: Asked; readonly status: number; readonly durationMs: number }) => void
}

export interface HttpRequest {
  readonly asked: Asked
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly accept?: string
  readonly contentType?: string
  /** Tag of the answer that is known already: if it still is the same, 304 comes instead. */
  readonly ifNoneMatch?: string
  readonly body?: unknown
  /** Time of the whole request: its turn, all tries and the waits between them. Default 30 s. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export interface AnswerText {
  /** 2xx or 304. */
  readonly status: number
  readonly text: string
  readonly etag: string | undefined
}

export interface ApiTransport {
  send(request: HttpRequest): Promise<ApiAnswer<AnswerText>>
  /** The bytes of the answer as they come; the time limit is that of its head. */
  open(request: HttpRequest): Promise<ApiAnswer<AsyncIterable<Uint8Array>>>
  /** Cuts requests under way; later requests fail. */
  close(): Promise<void>
}

const TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_MS = 10_000
/** A connection that is silent for so long is probed; one whose other end is gone breaks ten seconds later. */
const KEEP_ALIVE_MS = 15_000
/** Tries by status, of requests that were certainly not carried out and may succeed the next time. */
const MAX_TRIES: Readonly<Record<number, number>> = { 401: 2, 429: 5 }
/** The wait after a 429 that names none, and the longest wait of all. */
const RETRY_AFTER_MS = 1000
const MAX_RETRY_AFTER_MS = 60_000

type Head = Dispatcher.ResponseData

export function createApiTransport(access: ClusterAccess, deps: TransportDeps): ApiTransport {
  const live = createLiveAccess(access, deps.clock)
  const dispatchers = createDispatchers()
  const closed = new AbortController()

  const attempt = async <T>(call: HttpRequest, limit: TimeLimit, use: (head: Head) => Promise<T>): Promise<ApiAnswer<T>> => {
    const { asked } = call
    await deps.rateLimit.take(limit.signal)
    const startMs = monotonicMs(deps.clock)
    let status = 0
    let way: Way | undefined
    let dispatcher: Dispatcher | undefined
    try {
      if (closed.signal.aborted) return { ok: false, failure: noAnswer(NO_ANSWER.aborted, 'the client is closed', asked) }
      if (limit.expired) return { ok: false, failure: noAnswer(NO_ANSWER.timeout, `its turn did not come within ${seconds(call)}`, asked) }
      way = await orAborted(live.current(), limit.signal)
      const options = requestOptions(call, way, deps.userAgent)
      if (call.method !== 'GET' && deps.mayWrite?.() === false)
        return { ok: false, failure: noAnswer(NO_ANSWER.aborted, 'this process may not write now', asked) }
      dispatcher = dispatchers.for(way)
      const head = await request(way.server + call.path, { ...options, dispatcher, signal: limit.signal })
      status = head.statusCode
      if (status < 300 || status === 304) return { ok: true, value: await use(head) }
      const failure = failureOf(status, await head.body.text(), asked, textOfHeader(head.headers['retry-after']))
      if (status === 401) live.reject()
      return { ok: false, failure }
    } catch (error) {
      live.doubt()
      if (limit.expired && dispatcher !== undefined) dispatchers.leave(dispatcher)
      return { ok: false, failure: whyNoAnswer(error, limit, call, way) }
    } finally {
      deps.onRequest?.({ asked, status, durationMs: monotonicMs(deps.clock) - startMs })
    }
  }

  /** All tries of a request and the waits before them share its time. The caller ends `limit`. */
  const perform = async <T>(call: HttpRequest, limit: TimeLimit, use: (head: Head) => Promise<T>): Promise<ApiAnswer<T>> => {
    for (let tries = 1; ; tries++) {
      const answer = await attempt(call, limit, use)
      if (answer.ok || tries >= triesFor(answer.failure, call)) return answer
      const waitMs = waitBefore(answer.failure)
      if (waitMs >= limit.leftMs()) return answer
      await deps.clock.sleep(waitMs, limit.signal)
      if (limit.signal.aborted) return answer
    }
  }

  const limitOf = ({ timeoutMs = TIMEOUT_MS, signal }: HttpRequest) =>
    limitTime(deps.clock, timeoutMs, signal === undefined ? [closed.signal] : [closed.signal, signal])

  return {
    async send(call) {
      const limit = limitOf(call)
      try {
        return await perform(call, limit, async head => {
          return { status: head.statusCode, text: await head.body.text(), etag: textOfHeader(head.headers.etag) }
        })
      } finally {
        limit.stopTimer()
        limit.detach()
      }
    },
    async open(call) {
      const limit = limitOf(call)
      const answer = await perform(call, limit, async head => head.body)
      limit.stopTimer()
      if (answer.ok) return { ok: true, value: untilEnd(answer.value, limit) }
      limit.detach()
      return answer
    },
    close() {
      closed.abort()
      return dispatchers.close()
    },
  }
}

/** The bytes, which the signals of the limit cut, too. */
async function* untilEnd(bytes: AsyncIterable<Uint8Array>, limit: TimeLimit): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes
  } finally {
    limit.detach()
  }
}

/** Only a 429 asks for a wait; other requests are tried again at once. */
function waitBefore({ status, retryAfterMs = RETRY_AFTER_MS }: ApiFailure): number {
  return status === 429 ? Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) : 0
}

/** The value, or a rejection as soon as the signal aborts. */
function orAborted<T>(value: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error('aborted'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** A connection that was kept open may turn out closed just when it is used: a request that only reads is sent once more. */
function triesFor({ status, reason }: ApiFailure, { method }: HttpRequest): number {
  if (reason === NO_ANSWER.unreachable && method === 'GET') return 2
  return MAX_TRIES[status] ?? 1
}

interface TimeLimit {
  readonly signal: AbortSignal
  readonly expired: boolean
  leftMs(): number
  /** Time no longer counts; other signals still do. */
  stopTimer(): void
  /** Other signals no longer count. */
  detach(): void
}

function limitTime(clock: Clock, ms: number, signals: readonly AbortSignal[]): TimeLimit {
  const cut = new AbortController()
  const timer = new AbortController()
  const endMs = monotonicMs(clock) + ms
  let expired = false
  const abort = () => cut.abort()
  if (signals.some(({ aborted }) => aborted)) abort()
  for (const signal of signals) signal.addEventListener('abort', abort)
  void clock.sleep(ms, timer.signal).then(() => {
    if (timer.signal.aborted) return
    expired = true
    abort()
  })
  return {
    signal: cut.signal,
    get expired() {
      return expired
    },
    leftMs: () => endMs - monotonicMs(clock),
    stopTimer: () => timer.abort(),
    detach: () => {
      for (const signal of signals) signal.removeEventListener('abort', abort)
    },
  }
}

function requestOptions(
  { method, query, accept, contentType, ifNoneMatch, body }: HttpRequest,
  { shown: { authorization }, impersonation }: Way,
  userAgent: string,
) {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== '')
  return {
    method,
    query: Object.fromEntries(given),
    headers: {
      accept: accept ?? 'application/json',
      'user-agent': userAgent,
      ...(authorization !== undefined && { authorization }),
      ...(impersonation !== undefined && mutable(impersonationHeaders(impersonation))),
      ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
      ...(body !== undefined && { 'content-type': contentType ?? 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    // Time is limited by `limitTime`, which the tests' clock drives.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
}

const mutable = (headers: Headers) => headers as Record<string, string | string[]>

/** Keeps one connection pool, and makes another when certificates, authorities or the proxy change, or an answer did not come in time. */
function createDispatchers() {
  let current: { readonly key: string; readonly dispatcher: Dispatcher } | undefined
  return {
    for(way: Way): Dispatcher {
      const key = JSON.stringify([way.tls, way.shown.certificate, way.proxyUrl])
      if (current?.key === key) return current.dispatcher
      // Lets requests under way finish.
      void current?.dispatcher.close()
      current = { key, dispatcher: createDispatcher(way) }
      return current.dispatcher
    },
    /**
     * Its connection may have died without a word. Over HTTP/2 a request that is given up leaves it open for all others, until the system gives up the
     * bytes that were sent, after a quarter of an hour. Requests under way may still be answered.
     */
    leave(dispatcher: Dispatcher) {
      if (current?.dispatcher !== dispatcher) return
      void dispatcher.close()
      current = undefined
    },
    async close() {
      await current?.dispatcher.destroy()
      current = undefined
    },
  }
}

function createDispatcher({ tls, shown, proxyUrl, impersonation }: Way): Dispatcher {
  const connect = {
    rejectUnauthorized: !tls.insecure,
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
    ...shown.certificate,
    timeout: CONNECT_TIMEOUT_MS,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  }
  const http = impersonation !== undefined && hasRepeatedHeaders(impersonation) ? { allowH2: false } : {}
  if (proxyUrl === undefined) return new Agent({ connect, ...http })
  return new ProxyAgent({ uri: proxyUrl, requestTls: connect, connectTimeout: CONNECT_TIMEOUT_MS, ...http })
}

const seconds = ({ timeoutMs = TIMEOUT_MS }: HttpRequest) => `${timeoutMs / 1000} s`

function whyNoAnswer(error: unknown, limit: TimeLimit, call: HttpRequest, way: Way | undefined): ApiFailure {
  const { asked, signal } = call
  if (limit.expired) return noAnswer(NO_ANSWER.timeout, `no answer within ${seconds(call)}`, asked)
  if (signal?.aborted) return noAnswer(NO_ANSWER.aborted, 'given up by ourselves', asked)
  const through = way?.proxyUrl === undefined ? '' : ` (through the proxy ${new URL(way.proxyUrl).host})`
  return noAnswer(NO_ANSWER.unreachable, `${describeError(error)}${through}`, asked)
}

/** Node hides the reason of a failed connection in `cause` or `errors`. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause
  const said = error.message || (error as NodeJS.ErrnoException).code || error.name
  return inner instanceof Error ? `${said}: ${describeError(inner)}`.replace(/^: /, '') : said
}

function textOfHeader(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}
