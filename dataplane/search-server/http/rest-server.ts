/** The HTTP server: finds the route, reads the body, writes the answer. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { LentBuffers } from '../../memory/lent-buffers.ts'
import { ApiError, illegalArgument } from '../api-error.ts'
import { type MemoryLease, MemoryPool } from '../memory-pool.ts'
import { isObject, type JsonObject, kindOf } from '../query/json-reader.ts'
import { applyFilterPath, parseFilterPath } from './filter-path.ts'
import type { Reply } from './reply.ts'
import { type BodyLimit, ClientGone, overloaded, parseJsonBody, readBody } from './request-body.ts'
import { type Call, COMMON_PARAMETERS, createRouter, type Deps, type Route } from './route.ts'

export interface RestServerConfig {
  readonly routes: readonly Route[]
  readonly deps: Deps
  /** Largest body with documents, before and after decompression. */
  readonly maxBulkBytes: number
  /** Bodies with documents held at a time, all requests together, what is still coming in and unpacked included. */
  readonly maxHeldBytes: number
  onError(error: unknown, request: { readonly method: string; readonly path: string }): void
}

const MAX_QUERY_BYTES = 1024 * 1024
/** Bodies of queries held at a time, bytes; apart from those with documents, which may take all that there is for them. */
const MAX_HELD_QUERY_BYTES = 64 * 1024 * 1024
const COMPRESS_FROM_BYTES = 1024
/** Answers held until their clients have read them, all together, bytes; small ones are not counted. */
const MAX_HELD_ANSWER_BYTES = 256 * 1024 * 1024
const COUNTED_ANSWER_BYTES = 1024 * 1024
/** A client that reads nothing of its answer for so long is cut off, ms. */
const UNREAD_MS = 60_000
/** Answers that are parsed again, to be filtered or laid out, are no longer, characters. */
const MAX_PARSED_ANSWER = 16 * 1024 * 1024
const HEADERS_TIMEOUT_MS = 20_000
const REQUEST_TIMEOUT_MS = 120_000
const KEEP_ALIVE_MS = 60_000

const gzipAsync = promisify(gzip)

export function createRestServer(config: RestServerConfig): Server {
  const match = createRouter(config.routes)
  const held: HeldBodies = {
    query: new MemoryPool(MAX_HELD_QUERY_BYTES),
    documents: new MemoryPool(config.maxHeldBytes),
    answers: new MemoryPool(MAX_HELD_ANSWER_BYTES),
  }
  const memory = new LentBuffers()
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
      maxHeaderSize: 65_536,
    },
    (request, response) => {
      const exchange = new Exchange(config, match, held, memory, request, response)
      exchange.run().catch(error => config.onError(error, { method: request.method ?? '', path: request.url ?? '' }))
    },
  )
  return server
}

interface HeldBodies {
  readonly query: MemoryPool
  readonly documents: MemoryPool
  readonly answers: MemoryPool
}

class Exchange {
  readonly #config: RestServerConfig
  readonly #match: ReturnType<typeof createRouter>
  readonly #held: HeldBodies
  readonly #memory: LentBuffers
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #method: string
  #query = new URLSearchParams()

  constructor(
    config: RestServerConfig,
    match: ReturnType<typeof createRouter>,
    held: HeldBodies,
    memory: LentBuffers,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    this.#config = config
    this.#match = match
    this.#held = held
    this.#memory = memory
    this.#request = request
    this.#response = response
    this.#method = request.method ?? 'GET'
  }

  async run(): Promise<void> {
    try {
      await this.#write(await this.#answer())
    } catch (error) {
      if (error instanceof ClientGone) return void this.#request.destroy()
      await this.#write(this.#errorReply(error))
    }
  }

  async #answer(): Promise<Reply> {
    const url = parseUrl(this.#request.url ?? '/')
    this.#query = url.searchParams
    const found = this.#match(this.#method, url.pathname)
    if (found.kind === 'no route') return noHandler(url.pathname, this.#method)
    if (found.kind === 'wrong method') return wrongMethod(url.pathname, this.#method, found.allowed)
    const { route } = found
    checkParameters(route, this.#query, url.pathname)
    // What is wrong with it is said before anything is done.
    parseFilterPath(this.#query.get('filter_path'))
    const path = Object.fromEntries(Object.entries(found.path).map(([name, value]) => [name, decodePart(value)]))
    const pool = route.body === 'documents' ? this.#held.documents : this.#held.query
    const lease = pool.lease()
    try {
      const body = await this.#readBody(route, pool, lease)
      const reply = await route.handle(callOf(this.#config.deps, this.#method, path, this.#query, body))
      this.#memory.giveBack(body)
      return reply
    } finally {
      lease.release()
    }
  }

  async #readBody(route: Route, pool: MemoryPool, lease: MemoryLease): Promise<Buffer> {
    const limit: BodyLimit =
      route.body === 'documents' ? { maxBytes: this.#config.maxBulkBytes, status: 413 } : { maxBytes: MAX_QUERY_BYTES, status: 400 }
    const announced = Number(this.#request.headers['content-length'] ?? 0)
    if (announced <= limit.maxBytes && !pool.hasRoomFor(announced)) throw overloaded()
    const body = await readBody(this.#request, limit, this.#memory, lease)
    if (body.length > 0) checkContentType(this.#request.headers['content-type'])
    return body
  }

  #errorReply(error: unknown): Reply {
    if (error instanceof ApiError)
      return {
        status: error.status,
        body: error.toBody(),
        isFiltered: true,
        ...(error.options.headers && { headers: error.options.headers }),
      }
    this.#config.onError(error, { method: this.#method, path: this.#request.url ?? '' })
    return { status: 500, body: new ApiError(500, 'internal_error', 'the search store failed to answer; its log says why').toBody() }
  }

  async #write(reply: Reply): Promise<void> {
    const response = this.#response
    if (response.destroyed || response.headersSent) return
    const { contentType, text } = render(reply, this.#query)
    const isHead = this.#method === 'HEAD'
    let body: Buffer | undefined = text === undefined ? undefined : Buffer.from(text)
    const headers: Record<string, string> = { ...reply.headers }
    if (body !== undefined) headers['content-type'] ??= contentType
    if (body !== undefined && !isHead && body.length >= COMPRESS_FROM_BYTES && acceptsGzip(this.#request.headers['accept-encoding'])) {
      body = await gzipAsync(body, { level: 1 })
      headers['content-encoding'] = 'gzip'
      headers['vary'] = 'accept-encoding'
    }
    headers['content-length'] = String(body?.length ?? 0)
    // A body that was not read to its end cannot be followed by another request.
    if (!this.#request.complete) headers['connection'] = 'close'
    if (body !== undefined && body.length >= COUNTED_ANSWER_BYTES) this.#holdUntilRead(body.length)
    response.writeHead(reply.status, headers)
    response.end(isHead ? undefined : body)
    if (!this.#request.complete) this.#request.resume()
  }

  /** Throws 429 when clients have too much of their answers still to read. */
  #holdUntilRead(bytes: number): void {
    const lease = this.#held.answers.lease()
    if (!lease.take(bytes))
      throw new ApiError(
        429,
        'circuit_breaking_exception',
        'answers that their clients have not read yet take all the memory that there is for them',
        {
          headers: { 'retry-after': '1' },
        },
      )
    this.#response.once('close', () => lease.release())
    this.#response.setTimeout(UNREAD_MS, () => this.#response.destroy())
  }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text.startsWith('/') ? `http://search${text.replace(/^\/+/, '/')}` : text)
  if (url === null) throw illegalArgument(`malformed address [${text.slice(0, 200)}]`)
  return url
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    if (cause instanceof URIError) throw illegalArgument(`malformed address part [${text.slice(0, 200)}]`)
    throw cause
  }
}

function callOf(deps: Deps, method: string, path: Readonly<Record<string, string>>, query: URLSearchParams, body: Buffer): Call {
  return {
    deps,
    method,
    path,
    query,
    body,
    json: (): JsonObject => {
      const value = body.length === 0 ? parseSource(query) : parseJsonBody(body)
      if (value === undefined) return {}
      if (isObject(value)) return value
      throw new ApiError(400, 'parse_exception', `the request body must be a JSON object, found ${kindOf(value)}`)
    },
  }
}

/** The body as the parameter `source`, for clients that cannot send one with GET. */
function parseSource(query: URLSearchParams): unknown {
  const source = query.get('source')
  return source === null ? undefined : parseJsonBody(Buffer.from(source))
}

function checkParameters(route: Route, query: URLSearchParams, path: string): void {
  const unknown = [...new Set(query.keys())].filter(name => !route.parameters.includes(name) && !COMMON_PARAMETERS.includes(name))
  if (unknown.length > 0)
    throw illegalArgument(
      `request [${path}] contains unrecognized parameter${unknown.length > 1 ? 's' : ''}: ${unknown.map(name => `[${name}]`).join(', ')}`,
    )
}

const JSON_TYPES = /^application\/(json|x-ndjson|vnd\.(opensearch|elasticsearch)\+(json|x-ndjson))\s*(;|$)/i

function checkContentType(type: string | undefined): void {
  if (type !== undefined && JSON_TYPES.test(type.trim())) return
  throw new ApiError(406, 'media_type_header_exception', `Content-Type header [${type ?? ''}] is not supported`, { isPlain: true })
}

function noHandler(path: string, method: string): Reply {
  return { status: 400, body: { error: `no handler found for uri [${path}] and method [${method}]`, status: 400 } }
}

function wrongMethod(path: string, method: string, allowed: readonly string[]): Reply {
  return {
    status: 405,
    body: { error: `Incorrect HTTP method for uri [${path}] and method [${method}], allowed: [${allowed.join(', ')}]`, status: 405 },
    headers: { allow: allowed.join(', ') },
  }
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  return /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[^,]*)?(,|$)/i.test(String(header ?? ''))
}

function render(reply: Reply, query: URLSearchParams): { contentType: string; text: string | undefined } {
  if (reply.text !== undefined) return { contentType: 'text/plain; charset=UTF-8', text: reply.text }
  const contentType = 'application/json; charset=UTF-8'
  const filter = reply.isFiltered === true ? undefined : parseFilterPath(query.get('filter_path'))
  const isPretty = query.has('pretty') && query.get('pretty') !== 'false'
  if (filter === undefined && !isPretty)
    return { contentType, text: reply.json ?? (reply.body === undefined ? undefined : JSON.stringify(reply.body)) }
  if (reply.json !== undefined && reply.json.length > MAX_PARSED_ANSWER)
    throw new ApiError(
      400,
      'circuit_breaking_exception',
      `an answer of ${reply.json.length} characters is too large to be filtered or laid out; ask for less, or without [filter_path] and [pretty]`,
    )
  const value = reply.json === undefined ? reply.body : JSON.parse(reply.json)
  if (value === undefined) return { contentType, text: undefined }
  const shown = filter === undefined ? value : applyFilterPath(value, filter)
  return { contentType, text: isPretty ? `${JSON.stringify(shown, undefined, 2)}\n` : JSON.stringify(shown) }
}
