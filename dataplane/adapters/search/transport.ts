/** Requests to the search store over the OpenSearch client, with its failures sorted into the port's. */
import { readFileSync } from 'node:fs'
import type { Agent, ClientRequest } from 'node:http'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import type * as OpenSearch from '@opensearch-project/opensearch'
import errors from '@opensearch-project/opensearch/lib/errors.js'
import pool from '@opensearch-project/opensearch/lib/pool/index.js'
import { backOffMs } from '../../limits/back-off.ts'
import { IN_BACKGROUND } from '../../limits/background-queries.ts'
import { SearchStoreRefusal, SearchStoreUnavailable } from '../../ports/search-store.ts'
import { type BulkItemResponse, isDiskFull, isUnavailableStatus, NO_ROOM_ERROR } from './bulk-outcome.ts'

export interface SearchConnectionConfig {
  /** URL of the store, e.g. `https://search:9200`. */
  readonly endpoint: string
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** PEM file of the authority that signed the store's certificate. */
  readonly caFile?: string | undefined
  /** From the request to the last byte of the answer. Default 30,000. */
  readonly requestTimeoutMs?: number
  /** Queries of users go first. */
  readonly isBackground?: boolean
}

export interface StoreRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean>>
  /** JSON, as an object or as text. */
  readonly body?: object | string
  readonly bulkBody?: Buffer
  /** Beside those of all requests. */
  readonly headers?: Readonly<Record<string, string>>
  /** Shorter than the connection's own time limit. */
  readonly timeoutMs?: number
  /** Statuses that the caller reads instead of an exception. */
  readonly expect?: readonly number[]
}

export interface StoreResponse {
  readonly status: number
  /** Parsed JSON; an empty string when there was no body. */
  readonly body: unknown
}

export interface StoreTransport {
  /** Rejects with `SearchStoreUnavailable`, or with `SearchStoreRefusal` for a status of 400 and up that is not expected. */
  request(request: StoreRequest): Promise<StoreResponse>
  close(): Promise<void>
}

// The parts of the client below its API. The index of the package loads five hundred files of that: 0.13 s of CPU and 15 MB more in each thread (2026-11-23).
const require = createRequire(import.meta.url)
const Transport: typeof OpenSearch.Transport = require('@opensearch-project/opensearch/lib/Transport.js')
const Connection: typeof OpenSearch.Connection = require('@opensearch-project/opensearch/lib/Connection.js')
const Serializer: typeof OpenSearch.Serializer = require('@opensearch-project/opensearch/lib/Serializer.js')

/** OpenSearch warns in headers, once for each deprecated field or setting, and has no bound for them; Node's is 16 KiB. */
const MAX_HEADER_BYTES = 1_048_576

const READING_POST = /\/_(search|mget|count)$/
/** A read that is answered 429 is sent again this many times: a caller that failed would ask a busy store for all of its data again. */
const MAX_BUSY_RETRIES = 4
const BUSY_PAUSE = { firstMs: 200, maxMs: 1_600 }
const BUSY = 429

export function createStoreTransport(config: SearchConnectionConfig): StoreTransport {
  const requestTimeoutMs = config.requestTimeoutMs ?? 30_000
  const headers = config.isBackground === true ? IN_BACKGROUND : {}
  const connections = new pool.ConnectionPool({
    emit: () => false,
    Connection: StoreConnection,
    resurrectStrategy: 'none',
    ...(config.username === undefined ? {} : { auth: { username: config.username, password: config.password ?? '' } }),
    ...(config.caFile === undefined ? {} : { ssl: { ca: readAuthority(config.caFile) } }),
  })
  connections.addConnection(config.endpoint)
  const transport = new Transport({
    emit: () => false,
    connectionPool: connections,
    serializer: new Serializer(),
    requestTimeout: requestTimeoutMs,
    maxRetries: 0,
    sniffEndpoint: '',
  })
  const send = async ({
    method,
    path,
    query,
    body,
    bulkBody,
    headers: own,
    expect,
    timeoutMs = requestTimeoutMs,
  }: StoreRequest): Promise<StoreResponse> => {
    const answer = transport.request(
      { method, path, querystring: { ...query }, ...(body === undefined ? {} : { body }), ...bulk(bulkBody) },
      // A connection that the store closed in the same moment is worth one more try, where that cannot write twice.
      { headers: { ...headers, ...own }, ignore: [...(expect ?? [])], maxRetries: isReading({ method, path }) ? 1 : 0 },
    )
    // The client's own timeout ends with the first byte of the answer.
    const deadline = setTimeout(() => answer.abort(), timeoutMs)
    try {
      const { statusCode, body: answered } = await answer
      const status = statusCode ?? 0
      if (!isOfStore(status, answered)) throw strangeAnswer(`${status} to ${method} ${path}`)
      return { status, body: answered }
    } catch (error) {
      throw translate(error, `${method} ${path}`)
    } finally {
      clearTimeout(deadline)
    }
  }
  return {
    async request(request) {
      const isRead = isReading(request)
      for (let attempt = 0; ; attempt++) {
        try {
          return await send(request)
        } catch (error) {
          if (!isRead || attempt === MAX_BUSY_RETRIES || !isBusy(error)) throw error
          await sleep(backOffMs(BUSY_PAUSE, attempt + 1))
        }
      }
    },
    close: () => new Promise(done => connections.empty(done)),
  }
}

const TOO_LARGE = 413
/** Also by a proxy that asks who it is. */
const REFUSED_USER = new Set([401, 403])

/**
 * Whether a search store gave the answer, not something in its place: a page to log in at, a redirection to one, a proxy without a route. What such a
 * server says of a document, that it is written, or that there is none, must not be believed. Proxies refuse what is too large in any form.
 */
function isOfStore(status: number, body: unknown): boolean {
  if (status === TOO_LARGE) return true
  if ((status >= 300 && status < 400) || typeof body !== 'object' || body === null) return false
  return status < 400 || 'error' in body || 'found' in body
}

/** The store is not there, or another server is in its place. `what`: the status, and the request. */
export function strangeAnswer(what: string): SearchStoreUnavailable {
  return new SearchStoreUnavailable(`SEARCH_ENDPOINT answered ${what} with what is no answer of a search store`)
}

function isReading({ method, path }: Pick<StoreRequest, 'method' | 'path'>): boolean {
  return method === 'GET' || READING_POST.test(path)
}

function isBusy(error: unknown): boolean {
  return error instanceof SearchStoreUnavailable && error.cause instanceof errors.ResponseError && error.cause.statusCode === BUSY
}

function readAuthority(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new Error(`SEARCH_CA_FILE: expected a PEM file that can be read: ${(cause as Error).message}`, { cause })
  }
}

/** The client takes prebuilt bytes, though its types ask for text. */
function bulk(bytes: Buffer | undefined): { bulkBody?: string } {
  return bytes === undefined ? {} : { bulkBody: bytes as unknown as string }
}

function translate(error: unknown, what: string): Error {
  if (error instanceof errors.OpenSearchClientError) hideExchange(error)
  if (error instanceof errors.ResponseError) {
    const status = error.statusCode ?? 0
    if (!isUnavailableStatus(status) && !REFUSED_USER.has(status) && !isOfStore(status, error.body))
      return strangeAnswer(`${status} to ${what}`)
    const message = `search store answered ${status} to ${what}: ${error.message}`
    return isUnavailableStatus(status)
      ? new SearchStoreUnavailable(message, { cause: error, isBusy: status === BUSY, isDiskFull: isDiskFull(errorOf(error.body)) })
      : new SearchStoreRefusal(status, message, { cause: error, hasNoRoom: errorOf(error.body)?.type === NO_ROOM_ERROR })
  }
  // Also a body that claims to be JSON and is none.
  if (error instanceof errors.OpenSearchClientError)
    return new SearchStoreUnavailable(`search store did not answer ${what}: ${error.message}`, {
      cause: error,
      isOfKeptConnection: ofKeptConnections.has(error),
    })
  return error instanceof Error ? error : new Error(String(error))
}

/** Logs print an error with its cause, and the client's errors carry the request and the answer whole: documents of users, of any size. */
function hideExchange(error: OpenSearch.errors.OpenSearchClientError): void {
  for (const name of Object.keys(error)) if (name !== 'name') Object.defineProperty(error, name, { enumerable: false })
}

function errorOf(body: unknown): BulkItemResponse['error'] {
  return (body as { readonly error?: BulkItemResponse['error'] } | null)?.error
}

/** Errors of requests on a kept connection that its other end closed before any byte of an answer came. */
const ofKeptConnections = new WeakSet<Error>()

/**
 * The client's connection prints errors that come after the head of an answer to stdout, among our log lines; its transport learns of them anyway. Of errors
 * before the head it does not tell whether the connection had answered other requests.
 */
class StoreConnection extends Connection {
  override request(...[params, callback]: Parameters<OpenSearch.Connection['request']>): ClientRequest {
    const request: ClientRequest = super.request({ ...params, maxHeaderSize: MAX_HEADER_BYTES }, (error, response) => {
      if (error instanceof errors.ConnectionError && request.reusedSocket) {
        ofKeptConnections.add(error)
        this.#closeIdle()
      }
      callback(error, response)
    })
    request.once('response', () => {
      request.removeAllListeners('error')
      request.on('error', () => {})
    })
    return request
  }

  /** A load balancer or a restart that closed one kept connection mostly closed all: the next request gets a new one. */
  #closeIdle(): void {
    for (const sockets of Object.values((this.agent as Agent).freeSockets)) for (const socket of [...(sockets ?? [])]) socket.destroy()
  }
}
