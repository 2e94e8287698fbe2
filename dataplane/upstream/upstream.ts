/** A back end over HTTP/1.1: connections that are kept, bodies that flow no faster than they are taken, both ways. */
import { PassThrough } from 'node:stream'
import type { Dispatcher } from 'undici'
import { HttpError } from '../http/http-error.ts'
import { createTurns, type Turns } from '../limits/turns.ts'
import type { Log } from '../telemetry/log.ts'
import type { Exchange } from './exchange.ts'
import { type HeaderPolicy, type HeaderValues, requestHeaders } from './headers.ts'
import { type BackEndConfig, CALLER_GONE, createKeptConnections } from './kept-connections.ts'
import { bodyOf, passThrough } from './pass-through.ts'

/** Connections of one tenant, however slowly it sends and reads. */
const MAX_CONNECTIONS_OF_TENANT = 96
/** Requests at one back end, those that wait for a connection among them. */
const MAX_UNDER_WAY = 1_024
/** The same of one tenant. */
const MAX_UNDER_WAY_OF_TENANT = 768
/** An answer that is read as a whole. */
const MAX_READ_BYTES = 16 * 1024 * 1024
/** RFC 9110, 9.2.2: no proxy may repeat others. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

export interface UpstreamConfig extends BackEndConfig {
  /** In all requests, in place of the caller's. */
  readonly headers?: Readonly<Record<string, string>>
  /** Header fields that stay behind, beside those that always do. */
  readonly policy?: HeaderPolicy
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

export function createUpstream(config: UpstreamConfig, log: Log): Upstream {
  const { endpoint, name, headers: own = {}, policy } = config
  const prefix = new URL(endpoint).pathname.replace(/\/$/, '')
  const connections = createKeptConnections(config, log)
  let underWay = 0
  const inTurn = createTenantTurns()

  const pass = (exchange: Exchange, asked: Asked): Promise<void> => {
    const { request, owner, signal } = exchange
    // It waited for its turn. A connection that is given a request which is over is cut.
    if (signal.aborted) return Promise.reject(connections.failed(CALLER_GONE))
    const { method = request.method ?? 'GET', path, body = bodyOf(request) } = asked
    const headers = { ...requestHeaders(request.headers, owner.tenant, policy), ...asked.headers, ...own }
    for (const [field, value] of Object.entries(headers)) if (value === undefined) delete headers[field]
    const length = request.headers['content-length']
    if (body instanceof PassThrough && length !== undefined) headers['content-length'] = length
    const sent = { method: method as Dispatcher.HttpMethod, path: prefix + path, headers: headers as HeaderValues, body }
    const isRepeatable = !(body instanceof PassThrough) && (asked.isRepeatable ?? IDEMPOTENT.has(method))
    return connections.send(isRepeatable, signal, to => passThrough(to, sent, exchange, policy))
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
      const answer = await connections.send(true, signal, to => to.request({ ...asked, ...(signal !== undefined && { signal }) }))
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
        const asked = { method: 'GET' as const, path: prefix + path, headers: own }
        const { body } = await connections.sendOnce(to => to.request({ ...asked, signal: AbortSignal.timeout(timeoutMs) }))
        await body.dump()
        return true
      } catch {
        return false
      }
    },

    close: connections.close,
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
