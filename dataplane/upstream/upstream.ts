/** A back end over HTTP/1.1: connections that are kept, bodies that flow no faster than they are taken. */
import { pipeline } from 'node:stream/promises'
import { type Dispatcher, errors, Pool } from 'undici'
import { HttpError } from '../http/http-error.ts'
import type { Log } from '../telemetry/log.ts'
import { answerBytes, type Exchange } from './exchange.ts'
import { answerHeaders, requestHeaders } from './headers.ts'

/** Connections to one back end; further requests wait for one. */
const MAX_CONNECTIONS = 128
const CONNECT_MS = 5_000
/** Less than servers of the product keep them, so that none is closed while it is taken. */
const KEEP_MS = 30_000
/** Until the head of an answer, and between two pieces of its body. */
const ANSWER_MS = 60_000
/** An answer that is read as a whole. */
const MAX_READ_BYTES = 16 * 1024 * 1024

export interface UpstreamConfig {
  readonly endpoint: string
  /** Such as "the bridge". */
  readonly name: string
  /** In all requests. */
  readonly headers?: Readonly<Record<string, string>>
  /** PEM of the authority that signed its certificate. */
  readonly ca?: Buffer | undefined
}

export interface UpstreamRequest {
  readonly method: string
  readonly path: string
  readonly headers?: Record<string, string | string[]>
  readonly body?: Buffer | Dispatcher.DispatchOptions['body']
  readonly signal?: AbortSignal
}

export interface Upstream {
  /** Rejects with `HttpError` 502 when the back end cannot be reached, 504 when it does not answer. */
  request(request: UpstreamRequest): Promise<Dispatcher.ResponseData>
  /** Reads the answer as JSON. */
  json(request: UpstreamRequest): Promise<{ readonly status: number; readonly body: unknown }>
  /** Passes a request on as it is, under another path, and the answer back. */
  forward(exchange: Exchange, path: string, headers?: Readonly<Record<string, string>>): Promise<void>
  close(): Promise<void>
}

export function createUpstream({ endpoint, name, headers: own = {}, ca }: UpstreamConfig, log: Log): Upstream {
  const { origin, pathname } = new URL(endpoint)
  const prefix = pathname.replace(/\/$/, '')
  const pool = new Pool(origin, {
    ...{ connections: MAX_CONNECTIONS, keepAliveTimeout: KEEP_MS, keepAliveMaxTimeout: KEEP_MS, pipelining: 1 },
    ...{ headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS, connect: { timeout: CONNECT_MS, ...(ca !== undefined && { ca }) } },
  })
  const failed = (cause: unknown): HttpError => {
    if (cause instanceof HttpError) return cause
    const isLate = cause instanceof errors.HeadersTimeoutError
    log.warn({ error: cause, endpoint }, `${name} cannot be reached`)
    if (isLate) return new HttpError(504, `${name} did not answer in time`, {}, { cause })
    return new HttpError(502, `${name} cannot be reached`, {}, { cause })
  }
  const upstream: Upstream = {
    async request({ method, path, headers, body = null, signal }) {
      const options = {
        ...{ method: method as Dispatcher.HttpMethod, path: prefix + path, headers: { ...headers, ...own }, body },
        ...(signal !== undefined && { signal }),
      }
      try {
        return await pool.request(options)
      } catch (error) {
        // A connection that was closed as it was taken; what is sent again is read only, or stored once.
        const isSafe = Buffer.isBuffer(body) || method === 'GET' || method === 'HEAD'
        const isRepeatable = isSafe && error instanceof errors.SocketError && signal?.aborted !== true
        if (!isRepeatable) throw failed(error)
      }
      try {
        return await pool.request(options)
      } catch (error) {
        throw failed(error)
      }
    },

    async json(request) {
      const { statusCode, body } = await upstream.request(request)
      const pieces: Buffer[] = []
      let sizeBytes = 0
      for await (const piece of body as AsyncIterable<Buffer>) {
        sizeBytes += piece.length
        if (sizeBytes > MAX_READ_BYTES) throw new HttpError(502, `the answer of ${name} is too large`)
        pieces.push(piece)
      }
      try {
        return { status: statusCode, body: JSON.parse(Buffer.concat(pieces).toString()) }
      } catch (cause) {
        throw new HttpError(502, `the answer of ${name} is no JSON`, {}, { cause })
      }
    },

    async forward({ request, response, owner, signal }, path, changed = {}) {
      const { method = 'GET' } = request
      const headers = { ...requestHeaders(request.headers, owner.tenant), ...changed }
      const length = request.headers['content-length']
      const hasBody =
        (length !== undefined && length !== '0') || request.headers['transfer-encoding'] !== undefined || isOpenStream(request)
      if (hasBody && length !== undefined) headers['content-length'] = length
      const answer = await upstream.request({ method, path, headers, signal, ...(hasBody && { body: request }) })
      await passOn(answer, response)
    },

    close: () => pool.close(),
  }
  return upstream
}

/** A request over HTTP/2 of which a body may come, though its length is not told. */
function isOpenStream(request: object): boolean {
  return 'stream' in request && !(request.stream as { readonly endAfterHeaders: boolean }).endAfterHeaders
}

/** Passes an answer on as it comes. */
export async function passOn({ statusCode, headers, body }: Dispatcher.ResponseData, response: Exchange['response']): Promise<void> {
  if (response.destroyed) return void body.destroy()
  response.statusCode = statusCode
  for (const [name, value] of Object.entries(answerHeaders(headers))) response.setHeader(name, value)
  // A break on the way reaches the caller as one.
  await pipeline(body, response as NodeJS.WritableStream).catch(() => response.destroy())
}

/** Passes a short answer on with a body that was read. */
export function answerRead(
  response: Exchange['response'],
  headers: Dispatcher.ResponseData['headers'],
  status: number,
  body: Buffer,
): void {
  const { 'content-length': _, ...passed } = answerHeaders(headers)
  answerBytes(response, status, passed, body)
}
