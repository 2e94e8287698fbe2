/** One request and its answer: finds the route, reads the body, has it handled, and sends the reply within the memory that there is for answers. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { TENANT_HEADER } from '../../contract/headers.ts'
import { endAfterRequest } from '../../http/end-after-request.ts'
import { HttpError } from '../../http/http-error.ts'
import { assertNoOtherSite } from '../../http/other-site.ts'
import type { BodyLease, BodyMemory } from '../../limits/body-memory.ts'
import type { LentBuffers } from '../../memory/lent-buffers.ts'
import { ApiError } from '../api-error.ts'
import { COMPRESS_FROM_BYTES } from '../calls/execute-query.ts'
import type { QueryAnswer } from '../calls/query-call.ts'
import { damagedError } from '../catalog/unavailable-storage.ts'
import { fullDiskError } from '../full-disk.ts'
import { MAX_DOCUMENT_BYTES } from '../mapping/parse-document.ts'
import type { MemoryLease, MemoryPool } from '../memory-pool.ts'
import { DamagedSegment } from '../storage/damaged-segment.ts'
import { acceptsGzip } from './answer/accepts-gzip.ts'
import { parseFilterPath } from './answer/filter-path.ts'
import { type AnswerLease, type HeldAnswers, noRoomForAnswer } from './answer/held-answers.ts'
import { render } from './answer/render.ts'
import type { Reply } from './answer/reply.ts'
import { cut, piecesOf, sendPieces, watchReader } from './answer/send-pieces.ts'
import { checkAccepted, checkContentType, checkParameters, decodePart, noHandler, parseUrl, wrongMethod } from './request/check-request.ts'
import { type BodyLimit, ClientGone, readBody, readJsonObject } from './request/request-body.ts'
import type { Call, createRouter, Deps, Route } from './route.ts'

export interface ExchangeConfig {
  readonly deps: Deps
  /** Largest body with documents, before and after decompression. */
  readonly maxBulkBytes: number
  /** A request came upon damage of an index. */
  onDamage(damage: string): void
  onError(error: unknown, request: { readonly method: string; readonly path: string }): void
}

const MAX_QUERY_BYTES = 1024 * 1024
/** Bytes beside those of a query for the filter that the door of one tenant puts around it; requests through that door name the tenant. */
const TENANT_FILTER_BYTES = 256
/** Smaller answers are not counted, where nothing waits before them on their connection. */
const COUNTED_ANSWER_BYTES = 64 * 1024
/** Memory of an answer beside its body, where it is counted. */
const ANSWER_HEAD_BYTES = 2048
/** Characters of an answer that is shaped as a whole, at one stretch. */
const MAX_SHAPED_LENGTH = 4 * 1024 * 1024
/** How long the rest of a body that was refused is read over, so that the caller gets to its answer. */
const REFUSED_BODY_MS = 10_000

const gzipAsync = promisify(gzip)

/** The parts that all exchanges share. */
export interface SharedParts {
  readonly config: ExchangeConfig
  readonly match: ReturnType<typeof createRouter>
  readonly memory: LentBuffers
  readonly held: {
    readonly query: BodyMemory
    readonly documents: BodyMemory
    /** Memory of bulk operations. Bodies have a pool of their own, as a body is held already when its operations are read. */
    readonly operations: MemoryPool
    readonly answers: HeldAnswers
  }
}

/** Callers who count as one: those of an address, or of the network that one site has in IPv6. */
function sourceOf(address: string | undefined): string | undefined {
  return address?.includes(':') && !address.includes('.') ? address.split(':').slice(0, 4).join(':') : address
}

export class Exchange {
  readonly #shared: SharedParts
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #method: string
  #query = new URLSearchParams()
  #gone: AbortController | undefined
  /** Memory of the answer, held until the client has read the answer. */
  readonly #answerMemory: AnswerLease
  /** Documents may have been written. */
  #isWrite = false
  readonly #source: string | undefined

  constructor(shared: SharedParts, request: IncomingMessage, response: ServerResponse) {
    this.#shared = shared
    this.#request = request
    this.#response = response
    this.#method = request.method ?? 'GET'
    this.#source = sourceOf(request.socket.remoteAddress)
    this.#answerMemory = shared.held.answers.lease(this.#source)
  }

  async run(): Promise<void> {
    try {
      await this.#write(await this.#answer())
    } catch (error) {
      if (error instanceof ClientGone) return void this.#request.destroy()
      this.#answerMemory.release()
      await this.#write(this.#errorReply(error), true)
    } finally {
      const release = () => this.#answerMemory.release()
      if (this.#response.closed) release()
      else this.#response.once('close', release)
    }
  }

  async #answer(): Promise<Reply> {
    assertNoOtherSite(this.#request)
    const url = parseUrl(this.#request.url ?? '/')
    this.#query = url.searchParams
    const found = this.#shared.match(this.#method, url.pathname)
    if (found.kind === 'no route') throw noHandler(url.pathname, this.#method)
    if (found.kind === 'wrong method') throw wrongMethod(url.pathname, this.#method, found.allowed)
    const { route } = found
    this.#isWrite = isWrite(route)
    checkParameters(route, this.#query, url.pathname)
    checkAccepted(this.#request.headers.accept)
    // A filter that is not valid is refused before anything is done.
    parseFilterPath(this.#query.get('filter_path'))
    const path = Object.fromEntries(Object.entries(found.path).map(([name, value]) => [name, decodePart(value)]))
    const lease = (isWrite(route) ? this.#shared.held.documents : this.#shared.held.query).lease(undefined, this.#source)
    const operations = this.#shared.held.operations.lease()
    try {
      const body = await this.#readBody(route, lease)
      const reply = await route.handle(this.#callOf(path, body, operations))
      this.#shared.memory.giveBack(body)
      return reply
    } finally {
      operations.release()
      lease.release()
    }
  }

  async #readBody(route: Route, lease: BodyLease): Promise<Buffer> {
    const body = await readBody(this.#request, this.#limitOf(route), this.#shared.memory, lease)
    if (body.length > 0) checkContentType(this.#request.headers['content-type'])
    return body
  }

  #limitOf(route: Route): BodyLimit {
    const isOfTenant = this.#request.headers[TENANT_HEADER] !== undefined
    if (!isWrite(route)) return { maxBytes: MAX_QUERY_BYTES + (isOfTenant ? TENANT_FILTER_BYTES : 0), status: 400 }
    const { maxBulkBytes } = this.#shared.config
    return { maxBytes: route.body === 'document' ? Math.min(maxBulkBytes, MAX_DOCUMENT_BYTES) : maxBulkBytes, status: 413 }
  }

  #callOf(path: Readonly<Record<string, string>>, body: Buffer, memory: MemoryLease): Call {
    const query = this.#query
    const whenGone = () => this.#whenGone()
    return {
      deps: this.#shared.config.deps,
      method: this.#method,
      path,
      query,
      headers: this.#request.headers,
      body,
      memory,
      answerMemory: this.#answerMemory,
      get signal() {
        return whenGone()
      },
      json: () => readJsonObject(body, query),
    }
  }

  #whenGone(): AbortSignal {
    this.#gone ??= new AbortController()
    const gone = this.#gone
    const response = this.#response
    response.once('close', () => {
      if (!response.writableFinished) gone.abort(new ClientGone('the client went away'))
    })
    if (response.destroyed) gone.abort(new ClientGone('the client went away'))
    return gone.signal
  }

  #errorReply(error: unknown): Reply {
    const refusal = error instanceof HttpError ? error : fullDiskError(error)
    if (refusal !== undefined) return { status: refusal.status, body: refusal.toBody(), isFiltered: true, headers: refusal.headers }
    if (error instanceof DamagedSegment) {
      this.#shared.config.onDamage(error.message)
      return { status: 503, body: damagedError(error.message).toBody(), isFiltered: true }
    }
    this.#shared.config.onError(error, { method: this.#method, path: this.#request.url ?? '' })
    return { status: 500, body: new ApiError(500, 'internal_error', 'the search store failed to answer; its log says why').toBody() }
  }

  /** `isRefusal`: the reply says that another one cannot be given. */
  async #write(reply: Reply, isRefusal = false): Promise<void> {
    const response = this.#response
    if (reply.answer !== undefined) return this.#send(reply.answer)
    if (response.destroyed || response.headersSent) return
    const { contentType, text } = render(reply, this.#query, MAX_SHAPED_LENGTH)
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
    const isUnread = !this.#request.complete
    if (isUnread) headers['connection'] = 'close'
    const shown = isHead ? undefined : body
    const isCounted = this.#hold(shown?.length ?? 0, isRefusal)
    response.writeHead(reply.status, headers)
    if (isUnread && !isCounted) {
      if (shown === undefined) response.flushHeaders()
      else response.write(shown)
      return endAfterRequest(this.#request, response, REFUSED_BODY_MS)
    }
    if (isCounted && shown !== undefined) return sendPieces(response, piecesOf(shown), this.#answerMemory)
    response.end(shown)
    this.#watchRest()
  }

  async #send({ status, headers, length, pieces, whole }: QueryAnswer): Promise<void> {
    const response = this.#response
    if (whole !== undefined) this.#hold(whole.length, false)
    if (!response.destroyed) response.writeHead(status, { ...headers, ...(length !== undefined && { 'content-length': String(length) }) })
    if (whole === undefined) return sendPieces(response, pieces, this.#answerMemory)
    response.end(whole)
    this.#watchRest()
  }

  /**
   * Takes memory for an answer that the client may leave unread; says whether it is one. Throws 429 where there is none. The answer to a write is
   * given all the same, since a client would write again.
   */
  #hold(bytes: number, isRefusal: boolean): boolean {
    // An answer that waits for those before it on its connection has no socket yet.
    const waits = (this.#response.socket?.writableLength ?? 1) > 0
    if (bytes < COUNTED_ANSWER_BYTES && !waits) return false
    if (this.#answerMemory.take(bytes + ANSWER_HEAD_BYTES) || this.#isWrite) return true
    if (!isRefusal) throw noRoomForAnswer()
    cut(this.#response)
    return true
  }

  /** A client that does not take the rest of its answer is not waited for any longer. */
  #watchRest(): void {
    if (this.#response.writableLength > 0) watchReader(this.#response, this.#answerMemory)
  }
}

const isWrite = ({ body }: Route): boolean => body === 'document' || body === 'documents'
