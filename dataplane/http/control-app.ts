/** The express application of a control API: routes from a table, errors in one shape (Decisions 7). */
import type { IncomingMessage } from 'node:http'
import { setImmediate as giveWay } from 'node:timers/promises'
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response } from 'express'
import { z } from 'zod'
import { type BodyLease, BodyMemory } from '../limits/body-memory.ts'
import { createFairTurnstile } from '../limits/turns.ts'
import { OnlineStoreUnavailable } from '../ports/online-store.ts'
import { SearchStoreUnavailable, VersionConflict } from '../ports/search-store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import {
  MAX_CONTROL_BODY_BYTES,
  MEMORY_ERRORS,
  parseJsonBody,
  queryOf,
  readBytes,
  readJsonBytes,
  tenantOf,
  validate,
} from './control-request.ts'
import { HttpError } from './http-error.ts'
import { assertNoOtherSite } from './other-site.ts'
import type { Answer, Route } from './route.ts'

/** A component's own account of itself; `status` is `ok` as long as it works. */
export interface Health {
  readonly status: string
}

export interface ControlAppConfig {
  readonly routes: readonly Route[]
  readonly log: Log
  /** The answer to `GET /metrics`; where `routes` has a `/metrics` of its own, only to those who prefer text (Decisions 2). */
  readonly metrics: Metrics
  /** Answer of `GET /health`; 503 with the same body when its `status` is not `ok`. Default `{"status":"ok"}`. */
  readonly health?: () => Health | Promise<Health>
  /** Default 1 MiB. */
  readonly maxBodyBytes?: number
  /** Memory of bodies under way. Default: what all control APIs of the process share. */
  readonly bodies?: BodyMemory
  /** Pages of other sites are refused before a request gets here. */
  readonly isBehindDoor?: boolean
}

/** From this size on bodies are parsed one after the other, tenants by turns, and small requests get their answers between two of them. */
const LARGE_BODY_BYTES = 64 * 1024
/** One for the process: its servers share a thread. */
const readLarge = createFairTurnstile(1)

/** Bytes of bodies that the control APIs of a process hold at a time. */
const MAX_HELD_BYTES = 32 * 1024 * 1024
const BODIES = new BodyMemory(MAX_HELD_BYTES, MEMORY_ERRORS)

const NO_PARAMETERS = z.strictObject({})

export function createControlApp(config: ControlAppConfig): Express {
  const app = express()
  // `/Health` is another path than `/health`, as at all other ports. Express reads it before the first route.
  app.enable('case sensitive routing')
  app.disable('x-powered-by')
  app.disable('etag')
  const hasOwnMetrics = config.routes.some(({ path }) => path === '/metrics')
  app.get('/metrics', async (request, response, next) => {
    if (hasOwnMetrics && !prefersText(request.headers.accept)) return next()
    response.set('content-type', config.metrics.contentType).send(await config.metrics.text())
  })
  const routes = [healthRoute(config.health ?? (() => ({ status: 'ok' }))), ...config.routes]
  for (const route of routes) app[methodOf(route)](route.path, handlerOf(route, config))
  for (const [path, methods] of methodsByPath([...routes, ...(hasOwnMetrics ? [] : [{ path: '/metrics', method: 'GET' }])]))
    app.all(path, refuseMethod(methods))
  app.use(request => {
    throw new HttpError(404, `no such path: ${request.path}`)
  })
  app.use(errorHandler(config.log))
  return app
}

function healthRoute(health: () => Health | Promise<Health>): Route {
  return {
    method: 'GET',
    path: '/health',
    query: z.looseObject({}),
    async handle() {
      const body = await health()
      return { status: body.status === 'ok' ? 200 : 503, body }
    },
  }
}

function methodOf({ method }: Route): 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete' {
  return method.toLowerCase() as Lowercase<Route['method']>
}

function handlerOf(
  route: Route,
  { maxBodyBytes = MAX_CONTROL_BODY_BYTES, bodies = BODIES, isBehindDoor = false }: ControlAppConfig,
): RequestHandler {
  // Bytes are signed.
  const isOpen = !isBehindDoor && !route.takesBytes
  return async (request, response) => {
    if (isOpen) assertNoOtherSite(request)
    const tenant = tenantOf(request)
    const query = validate(route.query ?? NO_PARAMETERS, queryOf(request, route.lists ?? []), 'query')
    const lease = bodies.lease(tenant)
    const body = await bodyOf(route, request, { maxBytes: maxBodyBytes, lease, tenant }).finally(() => lease.release())
    const params = request.params as Record<string, string>
    send(response, await route.handle({ headers: request.headers, params, query, body, tenant }))
  }
}

interface BodyBounds {
  readonly maxBytes: number
  readonly lease: BodyLease
  readonly tenant: string | undefined
}

async function bodyOf(route: Route, request: IncomingMessage, { maxBytes, lease, tenant }: BodyBounds): Promise<unknown> {
  if (route.takesBytes) return readBytes(request, maxBytes, lease)
  const sent = await readJsonBytes(request, maxBytes, lease)
  if (sent.length < LARGE_BODY_BYTES) return read(route, sent)
  return readLarge(tenant ?? '', async () => {
    await giveWay()
    return read(route, sent)
  })
}

function read(route: Route, bytes: Buffer): unknown {
  const sent = parseJsonBody(bytes)
  if (route.body === undefined && sent !== undefined) throw new HttpError(400, 'body: expected none')
  return route.body === undefined ? undefined : validate(route.body, sent, 'body')
}

function send(response: Response, { status = 200, headers = {}, body }: Answer): void {
  response.status(status).set(headers).json(body)
}

function methodsByPath(routes: readonly { readonly path: string; readonly method: string }[]): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, string[]>()
  for (const { path, method } of routes)
    methods.set(path, [...(methods.get(path) ?? []), ...(method === 'GET' ? ['GET', 'HEAD'] : [method])])
  return methods
}

function refuseMethod(methods: readonly string[]): RequestHandler {
  const allow = methods.join(', ')
  return request => {
    throw new HttpError(405, `${request.method} is not allowed here; allowed: ${allow}`, { allow })
  }
}

function errorHandler(log: Log): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    // No answer can be sent: the caller hung up, or an answer is on its way.
    if (response.headersSent || response.socket === null || response.socket.destroyed) return void response.destroy()
    const answer = answerForError(error)
    const { status, headers } = answer
    if (status >= 500) log[status === 500 ? 'error' : 'warn']({ error, method: request.method, path: request.path }, 'request failed')
    response.status(status).set(headers).json(answer.toBody())
  }
}

/** Which answer an error gets: never a stack trace, and never the text of an error that was not meant for the caller. */
function answerForError(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof SearchStoreUnavailable) return new HttpError(503, error.forCallers, { 'retry-after': '1' }, { cause: error })
  if (error instanceof OnlineStoreUnavailable)
    return new HttpError(503, 'the online store cannot be reached', { 'retry-after': '1' }, { cause: error })
  if (error instanceof VersionConflict) return new HttpError(409, error.message, {}, { cause: error })
  const status = expressStatus(error)
  if (status !== undefined) return new HttpError(status, `malformed request: ${(error as Error).message}`, {}, { cause: error })
  return new HttpError(500, 'internal error', {}, { cause: error })
}

/** Express marks what it refuses itself, such as a path that is not valid percent-encoding. */
function expressStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('status' in error)) return undefined
  return typeof error.status === 'number' && error.status >= 400 && error.status < 500 ? error.status : undefined
}

const TEXT_TYPES: readonly string[] = ['text/plain', 'application/openmetrics-text']

/** Whether an `Accept` header names Prometheus's text formats, and not `application/json` above them; a wildcard names neither. */
function prefersText(accept: string | undefined): boolean {
  const named = (accept ?? '')
    .split(',')
    .map(parseRange)
    .filter(({ type, quality }) => quality > 0 && (type === 'application/json' || TEXT_TYPES.includes(type)))
  named.sort((a, b) => b.quality - a.quality)
  const [first] = named
  return first !== undefined && TEXT_TYPES.includes(first.type)
}

function parseRange(range: string): { readonly type: string; readonly quality: number } {
  const [type = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
  const quality = parameters.find(parameter => parameter.startsWith('q='))?.slice(2)
  return { type, quality: quality === undefined ? 1 : Number(quality) || 0 }
}
