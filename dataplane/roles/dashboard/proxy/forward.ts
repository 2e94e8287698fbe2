/** Passes requests on to one back end and its answers back, both as they come (Spec: Access patterns). */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Dispatcher, errors, Pool } from 'undici'
import { HttpError } from '../../../http/http-error.ts'
import { answerHeaders, requestHeaders } from './forwarded-headers.ts'

export interface BackendConfig {
  readonly endpoint: string
  /** In messages to callers. */
  readonly title: string
  /** Added to each request, in place of the caller's. */
  readonly headers: Readonly<Record<string, string>>
  /** PEM of the authority that signed its certificate. */
  readonly ca?: string | undefined
  /** The error of a back end that cannot be reached. */
  readonly unreachable: (cause: unknown) => HttpError
}

/** What is asked of the back end, where it is not what the caller asked. */
export interface ForwardedRequest {
  /** With the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Backend {
  /** Rejects with `HttpError` as long as nothing was answered; afterwards a broken answer ends the connection. */
  forward(request: IncomingMessage, response: ServerResponse, asked: ForwardedRequest): Promise<void>
  /** Whether it answers at all within the time. */
  answers(path: string, timeoutMs: number): Promise<boolean>
  close(): Promise<void>
}

/** To one back end. */
const MAX_CONNECTIONS = 64
/** Under way at one back end; each connection has one. */
const MAX_UNDER_WAY = 256
const CONNECT_TIMEOUT_MS = 3_000
/** Until the answer begins, and between two pieces of it. */
const ANSWER_TIMEOUT_MS = 120_000
const KEEP_ALIVE_MS = 30_000

export function createBackend({ endpoint, title, headers, ca, unreachable }: BackendConfig): Backend {
  const { origin, pathname } = new URL(endpoint)
  const base = pathname.replace(/\/$/, '')
  const pool = new Pool(origin, {
    connections: MAX_CONNECTIONS,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: CONNECT_TIMEOUT_MS, ...(ca !== undefined && { ca }) },
  })
  let underWay = 0

  async function ask(request: IncomingMessage, asked: ForwardedRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    try {
      return await pool.request({
        method: request.method as Dispatcher.HttpMethod,
        path: base + asked.path,
        headers: { ...requestHeaders(request.headers), ...asked.headers, ...headers },
        body: bodyOf(request),
        signal,
      })
    } catch (error) {
      if (error instanceof errors.HeadersTimeoutError) throw new HttpError(504, `the ${title} did not answer in time`, {}, { cause: error })
      if (error instanceof errors.InvalidArgumentError)
        throw new HttpError(400, 'expected a request that can be passed on, seen another', {}, { cause: error })
      throw unreachable(error)
    }
  }

  async function pass(request: IncomingMessage, response: ServerResponse, asked: ForwardedRequest): Promise<void> {
    const gone = new AbortController()
    const onClose = () => gone.abort()
    response.once('close', onClose)
    try {
      const answer = await ask(request, asked, gone.signal)
      response.writeHead(answer.statusCode, answerHeaders(answer.headers))
      // Either side may end it; the caller sees a connection that breaks off, which is all that can be said by then.
      await pipeline(answer.body, response).catch(() => response.destroy())
    } finally {
      response.off('close', onClose)
    }
  }

  return {
    async forward(request, response, asked) {
      if (underWay >= MAX_UNDER_WAY)
        throw new HttpError(503, `${underWay} requests to the ${title} are under way; try again later`, { 'retry-after': '1' })
      underWay++
      try {
        await pass(request, response, asked)
      } finally {
        underWay--
      }
    },
    async answers(path, timeoutMs) {
      try {
        const { body } = await pool.request({ method: 'GET', path: base + path, headers, signal: AbortSignal.timeout(timeoutMs) })
        await body.dump()
        return true
      } catch {
        return false
      }
    },
    close: () => pool.destroy(),
  }
}

/** A stream of its own: the client of the back end closes what it could not send, and the caller must still get an answer. */
function bodyOf(request: IncomingMessage): PassThrough | null {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  return encoding === undefined && (length === undefined || length === '0') ? null : request.pipe(new PassThrough())
}
