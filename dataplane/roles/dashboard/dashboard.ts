/** The dashboard: pages, the keyless way to the services, uploads, API keys (Spec: Access patterns). */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { DASHBOARD_REQUESTS_COUNTER, UPLOAD_COUNTERS } from '../../contract/counters.ts'
import { createControlApp } from '../../http/control-app.ts'
import { tenantOf } from '../../http/control-request.ts'
import { endAfterRequest } from '../../http/end-after-request.ts'
import { HttpError } from '../../http/http-error.ts'
import type { Route } from '../../http/route.ts'
import { type HttpServer, REQUEST_TIMEOUT_MS, startHttpServer } from '../../http/server.ts'
import { MemoryBudget } from '../../otlp-intake/memory-budget.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { DROPPED_BY_DASHBOARD } from '../../tenant-export/attribute-names.ts'
import { failedAnswer, mediaTypeOf, PROTOBUF_TYPE } from '../../tenant-export/export-answer.ts'
import { exportHttp } from '../../tenant-export/export-http.ts'
import { answerSearch, createSearchDoor } from '../../tenant-search/search-endpoints.ts'
import type { TenantExchange } from '../../upstream/exchange.ts'
import { parseRequestPath } from '../../upstream/request-path.ts'
import type { Upstream } from '../../upstream/upstream.ts'
import { createLogin } from './access/login.ts'
import { type Credentials, createPasswordGate } from './access/password-gate.ts'
import { assertOwnOrigin } from './access/same-origin.ts'
import { setSecurityHeaders } from './access/security-headers.ts'
import { sessionRoute } from './access/session-route.ts'
import { createBackendStates } from './proxy/backend-states.ts'
import { basePathOf, belowBase, parseRequestTarget, type RequestTarget } from './proxy/request-target.ts'
import { findService, type ServiceName } from './proxy/services.ts'
import type { Site } from './site/site.ts'
import { createUploadRoute, UPLOAD_PATH } from './upload/upload-route.ts'
import type { UploadSender } from './upload/upload-sender.ts'

export interface DashboardDeps {
  readonly backends: Readonly<Record<ServiceName, Upstream>>
  /** Back ends that no setting places, and that are not at their default address. */
  readonly unconfigured?: ReadonlySet<ServiceName>
  readonly collector: Pick<UploadSender, 'send'>
  readonly site: Site
  /** Served beside `/health` and `/metrics`. */
  readonly routes: readonly Route[]
  /** Undefined: nobody is asked. */
  readonly credentials: Credentials | undefined
  readonly publicUrl: string | undefined
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  readonly maxUploadBytes?: number
  /** How long a request that is no upload may take until it is complete. Default 30 s. */
  readonly requestTimeoutMs?: number
  /** Size of one request to the collector that is an upload's or names a tenant, and of all such requests of callers at a time. */
  readonly maxRequestBytes: number
  readonly maxPendingBytes: number
  readonly clock: Clock
  readonly log: Log
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

/** An upload may take its time; all else arrives within `REQUEST_TIMEOUT_MS`. */
const UPLOAD_TIMEOUT_MS = 3_600_000
/** How long the rest of a refused body is read over, so that the caller gets to the answer. */
const REFUSED_BODY_MS = 10_000
/** Asked by probes and scrapers, which have no password. */
const OPEN_PATHS: ReadonlySet<string> = new Set(['/health', '/metrics'])

/** Beginnings of paths that are no pages. A page is the same page below any path. */
const OWN_SEGMENTS: ReadonlySet<string> = new Set(['api', 'health', 'metrics', 'login', 'logout'])

export function startDashboard(deps: DashboardDeps): Promise<HttpServer> {
  const { backends, clock, log, host, port, requestTimeoutMs = REQUEST_TIMEOUT_MS } = deps
  const metrics = createMetrics()
  metrics.processMetrics()
  const countRequest = metrics.labelledCounter(DASHBOARD_REQUESTS_COUNTER, ['service', 'status'])
  const countEntries = metrics.counters(UPLOAD_COUNTERS)
  const isSecure = deps.publicUrl?.startsWith('https:') === true
  const basePath = basePathOf(deps.publicUrl)
  if (OWN_SEGMENTS.has(basePath.split('/')[1] ?? ''))
    log.warn(
      { PUBLIC_URL: deps.publicUrl },
      'PUBLIC_URL: expected a path that begins as none of the dashboard does, such as /logpipeline: a proxy that takes it away hides those paths',
    )
  const login = deps.credentials && createLogin(createPasswordGate(deps.credentials, clock), { isSecure, basePath })
  const states = createBackendStates({ backends, unconfigured: deps.unconfigured ?? new Set(), clock })
  const health = async () => ({ status: 'ok', backends: await states.read() })
  const routes = [...deps.routes, sessionRoute(deps.credentials)]
  const control = createControlApp({ routes, log, metrics, health, isBehindDoor: true }) as Handler
  const searchDoor = createSearchDoor(backends.search)
  const limits = { budget: new MemoryBudget(deps.maxPendingBytes, () => monotonicMs(clock)), maxRequestBytes: deps.maxRequestBytes }
  const upload = createUploadRoute({
    ...{ collector: deps.collector, maxRequestBytes: deps.maxRequestBytes, clock, log },
    ...(deps.maxUploadBytes !== undefined && { maxBytes: deps.maxUploadBytes }),
    onResult({ accepted, rejected }) {
      countEntries('accepted', accepted)
      countEntries('rejected', rejected)
    },
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { path, query } = belowBase(parseRequestTarget(request.url ?? ''), basePath)
    // Handlers of single paths look at the request.
    request.url = path + query
    setSecurityHeaders(response, path)
    assertOwnOrigin(request, deps)
    if (path !== UPLOAD_PATH) limitTime(request, requestTimeoutMs)
    if (login !== undefined && !OPEN_PATHS.has(path) && (await login.answers(request, response, path, query))) return
    const service = findService(path)
    const name = service?.name ?? 'console'
    response.once('finish', () => countRequest([name, `${Math.floor(response.statusCode / 100)}xx`], 1))
    if (service !== undefined) return forward(request, response, { path: service.path, query }, service.name)
    if (path === UPLOAD_PATH) return upload(request, response, query)
    if (OPEN_PATHS.has(path) || path === '/api' || path.startsWith('/api/')) return control(request, response)
    await deps.site.serve(request, response, path)
  }

  /** A request that names a tenant is one of that tenant alone, as it would be through the gateway (Decisions 7). */
  async function forward(request: IncomingMessage, response: ServerResponse, { path, query }: RequestTarget, name: ServiceName) {
    const tenant = tenantOf(request)
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const exchange = { request, response, owner: { tenant }, signal: gone.signal }
    const backend = backends[name]
    if (tenant !== undefined && (name === 'search' || name === 'collector')) {
      const target = parseRequestPath(path + query)
      const own: TenantExchange = { ...exchange, owner: { tenant }, path: target }
      if (name === 'search') return answerSearch(searchDoor, own, target.segments)
      return exportHttp({ ...limits, collector: backend, dropped: DROPPED_BY_DASHBOARD }, own)
    }
    await backend.forward(exchange, { path: path + query })
  }

  const listener: Handler = async (request, response) => {
    try {
      await serve(request, response)
    } catch (error) {
      refuse(request, response, error, log)
    }
  }
  return startHttpServer((request, response) => void listener(request, response), {
    host,
    port,
    setting: 'DASHBOARD_PORT',
    requestTimeoutMs: UPLOAD_TIMEOUT_MS,
  })
}

/**
 * Cuts a request whose caller takes too long to send it. One without a body is complete before its end is told, since nobody reads it; one whose bytes wait
 * for a back end is late by no fault of the caller: the time for answers holds then.
 */
function limitTime(request: IncomingMessage, ms: number): void {
  const timer = setInterval(() => request.complete || request.readableLength > 0 || request.destroy(), ms)
  request.once('end', () => clearInterval(timer))
  request.once('close', () => clearInterval(timer))
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown, log: Log): void {
  // No answer can be sent: the caller hung up, or an answer is on its way.
  if (response.headersSent || response.socket === null || response.socket.destroyed) return void response.destroy()
  const answer = error instanceof HttpError ? error : new HttpError(500, 'internal error', {}, { cause: error })
  const { status, headers } = answer
  if (status >= 500) log[status === 500 ? 'error' : 'warn']({ error, method: request.method, path: request.url }, 'request failed')
  if (response.getHeader('content-security-policy') === undefined) setSecurityHeaders(response, undefined)
  const isUnread = !request.complete
  const { type, body } = errorOf(request, answer)
  response.writeHead(status, {
    ...{ 'content-type': type, 'content-length': body.length },
    ...headers,
    ...(isUnread && { connection: 'close' }),
  })
  if (!isUnread) return void response.end(body)
  response.write(body)
  endAfterRequest(request, response, REFUSED_BODY_MS)
}

/** An export in protobuf is refused in protobuf, by whomever (Decisions 3). */
function errorOf(request: IncomingMessage, error: HttpError): { readonly type: string; readonly body: Uint8Array } {
  const service = findService((request.url ?? '').split('?', 1)[0]!)
  const isProtobuf = service?.name === 'collector' && mediaTypeOf(request.headers['content-type']) === PROTOBUF_TYPE
  if (isProtobuf) return { type: PROTOBUF_TYPE, body: failedAnswer(PROTOBUF_TYPE, error).body }
  return { type: 'application/json; charset=utf-8', body: Buffer.from(JSON.stringify(error.toBody())) }
}
