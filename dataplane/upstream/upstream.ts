/** A back end over HTTP/1.1: connections that are kept, bodies that flow no faster than they are taken, both ways. */
import { PassThrough } from 'node:stream'
import type { Client, Dispatcher, Pool } from 'undici'
import { HttpError } from '../http/http-error.ts'
import { withInterimAnswers } from '../http/interim-answers.ts'
import { createTurns, type Turns } from '../limits/turns.ts'
import { atFirstUse } from '../process/at-first-use.ts'
import type { Log } from '../telemetry/log.ts'
import { createAwayLog } from './away-log.ts'
import { answerHead, type Exchange, stopReading } from './exchange.ts'
import { answerHeaders, type HeaderPolicy, type HeaderValues, requestHeaders } from './headers.ts'

/** Connections to one back end; further requests wait for one. */
const MAX_CONNECTIONS = 128
/** Connections of one tenant, however slowly it sends and reads. */
const MAX_CONNECTIONS_OF_TENANT = 96
/** Requests at one back end, those that wait for a connection among them. */
const MAX_UNDER_WAY = 1_024
/** The same of one tenant. */
const MAX_UNDER_WAY_OF_TENANT = 768
const CONNECT_MS = 5_000
/** Less than servers of the product keep them; a server that keeps them for less says so. */
const KEEP_MS = 30_000
/** Until the head of an answer, and between two pieces of its body. */
const ANSWER_MS = 90_000
/** An answer that is read as a whole. */
const MAX_READ_BYTES = 16 * 1024 * 1024
/** RFC 9110, 9.2.2: no proxy may repeat others. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
/** Errors of a connection that ended without an answer. */
const BROKEN: ReadonlySet<string | undefined> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
/** Errors of requests that HTTP cannot carry. */
const UNFIT: ReadonlySet<string | undefined> = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED'])

export interface UpstreamConfig {
  readonly endpoint: string
  /** Such as "the bridge". */
  readonly name: string
  /** In all requests, in place of the caller's. */
  readonly headers?: Readonly<Record<string, string>>
  /** Header fields that stay behind, beside those that always do. */
  readonly policy?: HeaderPolicy
  /** PEM of the authority that signed its certificate. */
  readonly ca?: Buffer | undefined
  /** The message for callers while the back end cannot be reached. */
  readonly unreachable?: string
}

/** The request to the back end, where it differs from the caller's. */
export interface Asked {
  /** With the query. */
  readonly path: string
  readonly method?: string
  /** Undefined: the field is left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** In place of the caller's. */
  readonly body?: Buffer
  /** The request may be sent twice, even with a method such as POST: the second changes nothing. */
  readonly isRepeatable?: boolean
}

export interface UpstreamRequest {
  readonly method: string
  readonly path: string
  readonly headers?: HeaderValues
  readonly body?: Buffer
  readonly signal?: AbortSignal
}

export interface Upstream {
  /** Passes a request on and its answer back, both as they come. Rejects, as long as nothing was answered, with `HttpError`: 502 when the back end cannot be reached, 503 when too many wait for it, 504 when it does not answer. */
  forward(exchange: Exchange, asked: Asked): Promise<void>
  /** Reads the answer as JSON; the request is one that may be repeated. */
  json(request: UpstreamRequest): Promise<{ readonly status: number; readonly body: unknown }>
  /** Whether it answers at all within the time. */
  answers(path: string, timeoutMs: number): Promise<boolean>
  close(): Promise<void>
}

interface Connections {
  readonly pool: Pool
  /** A connection of its own, to be closed. */
  fresh(): Client
}

const CALLER_GONE = new Error('the caller hung up')

export function createUpstream(config: UpstreamConfig, log: Log): Upstream {
  const { endpoint, name, headers: own = {}, policy, ca } = config
  const { origin, pathname } = new URL(endpoint)
  const prefix = pathname.replace(/\/$/, '')
  const times = { keepAliveTimeout: KEEP_MS, keepAliveMaxTimeout: KEEP_MS, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS }
  const connections = atFirstUse<Connections>(async () => {
    const { buildConnector, Client, Pool } = await import('undici')
    const connect = withInterimAnswers(buildConnector({ timeout: CONNECT_MS, noDelay: true, ...(ca !== undefined && { ca }) }))
    const options: Client.Options = { ...times, pipelining: 1, connect }
    return { pool: new Pool(origin, { ...options, connections: MAX_CONNECTIONS }), fresh: () => new Client(origin, options) }
  })
  let underWay = 0
  const inTurn = createTenantTurns()
  const isAway = createAwayLog(log, config)

  const failed = (cause: unknown): HttpError => {
    if (cause instanceof HttpError) return cause
    const { code, name: kind } = cause as NodeJS.ErrnoException
    if (UNFIT.has(code)) return new HttpError(400, 'expected a request that can be passed on, seen another', {}, { cause })
    // A page that was left is nobody's fault.
    if (cause !== CALLER_GONE) isAway(cause)
    if (code === 'UND_ERR_HEADERS_TIMEOUT') return new HttpError(504, `${name} did not answer in time`, {}, { cause })
    if (code === 'UND_ERR_HEADERS_OVERFLOW' || kind === 'HTTPParserError')
      return new HttpError(502, `${name} gave an answer that cannot be passed on`, {}, { cause })
    return new HttpError(502, config.unreachable ?? `${name} cannot be reached`, {}, { cause })
  }

  /** A connection that breaks before the answer may have been closed as it was taken: what may be repeated is, once, on a new one. */
  const send = async <T>(isRepeatable: boolean, signal: AbortSignal | undefined, ask: (to: Dispatcher) => Promise<T>): Promise<T> => {
    const { pool, fresh: connect } = await connections.open()
    // A connection whose end has arrived is not taken then.
    if (!isRepeatable) await nextTurn()
    try {
      return await ask(pool)
    } catch (error) {
      const isBroken = BROKEN.has((error as NodeJS.ErrnoException).code)
      if (!isRepeatable || !isBroken || signal?.aborted === true) throw failed(error)
    }
    const fresh = connect()
    try {
      return await ask(fresh)
    } catch (error) {
      throw failed(error)
    } finally {
      // Once the answer is whole.
      fresh.close().catch(() => undefined)
    }
  }

  const pass = (exchange: Exchange, asked: Asked): Promise<void> => {
    const { request, owner, signal } = exchange
    // It waited for its turn. A connection that is given a request which is over is cut.
    if (signal.aborted) return Promise.reject(failed(CALLER_GONE))
    const { method = request.method ?? 'GET', path, body = bodyOf(request) } = asked
    const headers = { ...requestHeaders(request.headers, owner.tenant, policy), ...asked.headers, ...own }
    for (const [field, value] of Object.entries(headers)) if (value === undefined) delete headers[field]
    const length = request.headers['content-length']
    if (body instanceof PassThrough && length !== undefined) headers['content-length'] = length
    const sent = { method: method as Dispatcher.HttpMethod, path: prefix + path, headers: headers as HeaderValues, body }
    const isRepeatable = !(body instanceof PassThrough) && (asked.isRepeatable ?? IDEMPOTENT.has(method))
    return send(isRepeatable, signal, to => passThrough(to, sent, exchange, policy))
  }

  return {
    async forward(exchange, asked) {
      if (underWay >= MAX_UNDER_WAY)
        throw new HttpError(503, `${underWay} requests to ${name} are under way; try again later`, { 'retry-after': '1' })
      const passing = inTurn(exchange.owner.tenant, () => pass(exchange, asked))
      if (passing === undefined)
        throw new HttpError(429, `${MAX_UNDER_WAY_OF_TENANT} requests of this tenant to ${name} are under way; try again later`, {
          'retry-after': '1',
        })
      underWay++
      try {
        await passing
      } finally {
        underWay--
      }
    },

    async json({ method, path, headers, body = null, signal }) {
      const asked = { ...{ method: method as Dispatcher.HttpMethod, path: prefix + path }, headers: { ...headers, ...own }, body }
      const answer = await send(true, signal, to => to.request({ ...asked, ...(signal !== undefined && { signal }) }))
      const pieces: Buffer[] = []
      let sizeBytes = 0
      for await (const piece of answer.body as AsyncIterable<Buffer>) {
        sizeBytes += piece.length
        if (sizeBytes > MAX_READ_BYTES) throw new HttpError(502, `the answer of ${name} is too large`)
        pieces.push(piece)
      }
      try {
        return { status: answer.statusCode, body: JSON.parse(Buffer.concat(pieces).toString()) }
      } catch (cause) {
        throw new HttpError(502, `the answer of ${name} is no JSON`, {}, { cause })
      }
    },

    async answers(path, timeoutMs) {
      try {
        const { pool } = await connections.open()
        const { body } = await pool.request({ method: 'GET', path: prefix + path, headers: own, signal: AbortSignal.timeout(timeoutMs) })
        await body.dump()
        return true
      } catch {
        return false
      }
    },

    close: () => connections.close(({ pool }) => pool.destroy()),
  }
}

/** Runs the work of a tenant when one of its connections is free; undefined when too much of it waits. Work of nobody in particular runs at once. */
function createTenantTurns(): (tenant: string | undefined, work: () => Promise<void>) => Promise<void> | undefined {
  const limits = { running: MAX_CONNECTIONS_OF_TENANT, inAll: MAX_UNDER_WAY_OF_TENANT, ofOwner: MAX_UNDER_WAY_OF_TENANT }
  const tenants = new Map<string, Turns>()
  return (tenant, work) => {
    if (tenant === undefined) return work()
    const turns = tenants.get(tenant) ?? createTurns(limits)
    tenants.set(tenant, turns)
    return turns.take(tenant, work)?.finally(() => {
      if (turns.of(tenant) === 0) tenants.delete(tenant)
    })
  }
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** A stream of its own: the client of the back end closes what it could not send, and the caller must still get an answer. */
function bodyOf(request: Exchange['request']): PassThrough | null {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  const hasBody = (length !== undefined && length !== '0') || encoding !== undefined || isOpenStream(request)
  return hasBody ? request.pipe(new PassThrough()) : null
}

/** A request over HTTP/2 of which a body may come, though its length is not told. */
function isOpenStream(request: object): boolean {
  return 'mayHaveBody' in request && request.mayHaveBody === true
}

/** Resolves once the answer is on its way as a whole, or broke off after its head; rejects with what came in place of a head. */
function passThrough(
  to: Dispatcher,
  sent: Dispatcher.DispatchOptions,
  { request, response, signal }: Exchange,
  policy: HeaderPolicy | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let cancel: () => void = () => undefined
    const onGone = () => cancel()
    const done = (end: () => void) => {
      signal.removeEventListener('abort', onGone)
      end()
    }
    signal.addEventListener('abort', onGone)
    to.dispatch(sent, {
      onRequestStart(controller) {
        cancel = () => controller.abort(CALLER_GONE)
        if (signal.aborted) cancel()
      },
      onResponseStart(controller, status, headers) {
        if (status < 200) return
        answerHead(response, status, answerHeaders(headers, policy))
        response.on('drain', () => controller.resume())
      },
      onResponseData(controller, piece) {
        if (!(response as NodeJS.WritableStream).write(piece)) controller.pause()
      },
      onResponseEnd() {
        // A back end may answer before it has read all.
        if (sent.body instanceof PassThrough) request.unpipe(sent.body)
        stopReading(request)
        response.end()
        done(resolve)
      },
      onResponseError(_controller, error) {
        if (!response.headersSent) return done(() => reject(error))
        // A break on the way reaches the caller as one.
        response.destroy()
        done(resolve)
      },
    })
  })
}
