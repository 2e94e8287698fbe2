/** The auth proxy on the cloud address: key first, then the tenant of the key goes with the request to its back end (Spec: Authentication, Access patterns). */
import { createKeyCheck, type KeyCheck } from '../../api-keys/key-check.ts'
import type { ApiKeyStore, KeyOwner } from '../../api-keys/key-store.ts'
import { API_KEY_HEADER } from '../../contract/headers.ts'
import { basicAuthorization } from '../../http/basic-authorization.ts'
import { createControlApp } from '../../http/control-app.ts'
import { HttpError } from '../../http/http-error.ts'
import { createPlainLane } from '../../http/plain-lane/plain-lane.ts'
import { type ConnectionLane, startHttpServer } from '../../http/server.ts'
import type { LocalCollector } from '../../otlp-intake/local-collector.ts'
import { MemoryBudget } from '../../otlp-intake/memory-budget.ts'
import { exportErrorBody } from '../../otlp-intake/refusal.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import { SearchStoreUnavailable } from '../../ports/search-store.ts'
import { type Running, startTogether } from '../../process/running.ts'
import type { Log } from '../../telemetry/log.ts'
import { createMetrics, type Metrics } from '../../telemetry/metrics.ts'
import { DROPPED_BY_GATEWAY } from '../../tenant-export/attribute-names.ts'
import { failedAnswer, mediaTypeOf, PROTOBUF_TYPE } from '../../tenant-export/export-answer.ts'
import { COLLECTOR_AWAY } from '../../tenant-export/export-http.ts'
import { createSearchDoor } from '../../tenant-search/search-endpoints.ts'
import { createAwayLog } from '../../upstream/away-log.ts'
import {
  answerBytes,
  answerError,
  type GatewayRequest,
  type GatewayResponse,
  stopReading,
  type TenantExchange,
} from '../../upstream/exchange.ts'
import { parseRequestPath } from '../../upstream/request-path.ts'
import { createUpstream, type Upstream } from '../../upstream/upstream.ts'
import { createAdmit } from './admission.ts'
import { createAnswerKeys } from './answer-keys.ts'
import { BACK_END_NAMES, BACK_ENDS, type BackEnd } from './back-ends.ts'
import { GrpcCall, isGrpc } from './ingest/export-grpc.ts'
import { createGrpcUpstream } from './ingest/grpc-upstream.ts'
import { createPlainExports, EXPORT_PATHS } from './ingest/plain-exports.ts'
import { createRateLimit, NO_LIMIT } from './rate-limit.ts'
import { createRoutes } from './routes.ts'
import type { Certificate } from './tls/certificate.ts'
import { type CallHandler, REQUEST_TIMEOUT_MS, startTlsServer } from './tls/tls-server.ts'

export interface GatewayConfig {
  readonly keys: ApiKeyStore
  readonly certificate: Certificate
  /** `local`: in this process, where exports then go without another connection. */
  readonly collector: { readonly http: string; readonly grpc: string; readonly local?: LocalCollector | undefined }
  /** Where each listens. */
  readonly backEnds: Readonly<Record<BackEnd, string>>
  readonly search: {
    readonly endpoint: string
    readonly username?: string | undefined
    readonly password?: string | undefined
    readonly ca?: Buffer | undefined
  }
  readonly adminTenants: ReadonlySet<string>
  readonly maxRequestBytes: number
  readonly maxPendingBytes: number
  /** Undefined: no limit. */
  readonly requestsPerSecond?: number | undefined
  readonly host: string
  readonly port: number
  /** Port of health and metrics in plain text, for callers without a key; undefined: none. */
  readonly healthPort?: number | undefined
  readonly clock: Clock
  readonly log: Log
}

export interface Gateway extends Running {
  readonly port: number
  readonly healthPort: number | undefined
  setCertificate(certificate: Certificate): void
}

const REQUESTS = { name: 'logpipeline_gateway_requests_total', help: 'Requests at the gateway, by where they went and how they ended' }
const CALLER_GONE = new Error('the caller is gone')

export function startGateway(config: GatewayConfig): Promise<Gateway> {
  return startTogether(async keep => {
    const { log, clock, host } = config
    const metrics = createMetrics()
    metrics.processMetrics()
    const check = keep(createKeyCheck({ keys: config.keys, clock, log }))
    const front = keep(createFront(config, check, metrics))
    const at = { host, port: config.port, setting: 'GATEWAY_PORT', errorBody: exportErrorBody }
    const server = keep(
      await startTlsServer(front.listener, config.certificate, at, { ...front, monotonicMs: () => monotonicMs(clock), log }),
    )
    const healthAt = config.healthPort === undefined ? undefined : { host, port: config.healthPort, setting: 'HEALTH_PORT' }
    const health =
      healthAt === undefined ? undefined : keep(await startHttpServer(createControlApp({ routes: [], log, metrics }), healthAt))
    return { port: server.port, healthPort: health?.port, setCertificate: server.setCertificate }
  })
}

function createFront(config: GatewayConfig, check: KeyCheck, metrics: Metrics) {
  const { log, clock, keys, maxRequestBytes } = config
  const upstreams = openUpstreams(config)
  const collectorGrpc = createGrpcUpstream(config.collector.grpc)
  const budget = new MemoryBudget(config.maxPendingBytes, () => monotonicMs(clock))
  const limit = config.requestsPerSecond === undefined ? NO_LIMIT : createRateLimit(config.requestsPerSecond)
  const admit = createAdmit({ check, limit, requestsPerSecond: config.requestsPerSecond, clock, log })
  const count = metrics.labelledCounter(REQUESTS, ['to', 'status'])
  const routeOf = createRoutes({
    exports: { collector: config.collector.local ?? upstreams.collector, budget, maxRequestBytes, dropped: DROPPED_BY_GATEWAY },
    backEnds: upstreams.backEnds,
    searchDoor: createSearchDoor(upstreams.store),
    answerKeys: createAnswerKeys({ keys, clock, flushUses: check.flush }),
    isAdmin: tenant => config.adminTenants.has(tenant),
    metrics,
  })

  const serve = async (request: GatewayRequest, response: GatewayResponse, owner: KeyOwner): Promise<string> => {
    const gone = new AbortController()
    response.once('close', () => {
      // An error made anew takes longer than many requests.
      if (!response.writableFinished) gone.abort(CALLER_GONE)
    })
    let to = 'none'
    try {
      const exchange: TenantExchange = {
        ...{ request: request as TenantExchange['request'], response, owner, signal: gone.signal },
        path: parseRequestPath(request.url ?? ''),
      }
      const route = routeOf(exchange)
      to = route.to
      await route.answer(exchange)
    } catch (error) {
      if (gone.signal.aborted) return to
      stopReading(request)
      answerFailure(request, response, errorOf(error, log))
    }
    return to
  }

  const take = async (request: GatewayRequest, response: GatewayResponse, expectsContinue: boolean): Promise<void> => {
    // The tenant stands in a header that caches on the way do not look at.
    response.setHeader('cache-control', 'no-store')
    const admission = await admit(request.headers[API_KEY_HEADER])
    if ('refused' in admission) {
      const { status, message, retryAfterSeconds } = admission.refused
      stopReading(request)
      answerFailure(
        request,
        response,
        new HttpError(status, message, retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      )
      return count(['none', String(status)], 1)
    }
    if (expectsContinue) response.writeContinue()
    const to = await serve(request, response, admission.owner)
    count([to, String(response.statusCode)], 1)
  }

  const grpc = {
    ...{ collector: config.collector.local ?? collectorGrpc, admit, budget, maxRequestBytes, clock, log },
    onAway: createAwayLog(log, { name: 'the collector', endpoint: config.collector.grpc }),
    count: (to: string) => count([to, 'grpc'], 1),
  }
  const calls: CallHandler = (head, exchange, socket) => (isGrpc(head) ? new GrpcCall(grpc, socket, head, exchange) : undefined)

  const createLane = (local: LocalCollector): ConnectionLane =>
    createPlainLane({
      ...{
        paths: EXPORT_PATHS,
        wantedHeader: API_KEY_HEADER,
        requestTimeoutMs: REQUEST_TIMEOUT_MS,
        nowMs: () => clock.nowMs(),
        monotonicMs: () => monotonicMs(clock),
      },
      createHandler: createPlainExports({
        ...{ collector: local, admit, limit, budget, maxRequestBytes, log },
        count: status => count(['collector', String(status)], 1),
      }),
      onError: error => log.debug({ error }, 'HTTP connection failed'),
    })

  return {
    calls,
    /** For plain exports that stay in this process. */
    lane: config.collector.local && createLane(config.collector.local),
    listener(request: GatewayRequest, response: GatewayResponse, expectsContinue: boolean): void {
      // A fault of the connection shows in reads and writes.
      request.on('error', () => undefined)
      response.on('error', () => undefined)
      void take(request, response, expectsContinue).catch((error: unknown) => {
        log.error({ error }, 'request failed')
        response.destroy()
      })
    },
    async stop() {
      collectorGrpc.close()
      await upstreams.close()
    },
  }
}

function openUpstreams({ collector: { http }, backEnds: endpoints, search, log }: GatewayConfig) {
  const collector = createUpstream({ endpoint: http, name: 'the collector', unreachable: COLLECTOR_AWAY }, log)
  const backEnds = Object.fromEntries(
    BACK_ENDS.map(name => [name, createUpstream({ endpoint: endpoints[name], name: BACK_END_NAMES[name] }, log)]),
  ) as Readonly<Record<BackEnd, Upstream>>
  const authorization = search.username === undefined ? {} : { authorization: basicAuthorization(search.username, search.password ?? '') }
  const store = createUpstream({ endpoint: search.endpoint, name: 'the search store', headers: authorization, ca: search.ca }, log)
  return {
    ...{ collector, backEnds, store },
    async close(): Promise<void> {
      await Promise.all([collector, store, ...Object.values(backEnds)].map(upstream => upstream.close()))
    },
  }
}

/** Statuses whose JSON bodies the specification shows. */
const SHOWN: ReadonlySet<number> = new Set([401, 502])

/** Answers with an error; where the request is an export, in the collector's form (Decisions 3). */
function answerFailure(request: GatewayRequest, response: GatewayResponse, error: HttpError): void {
  const isExport = EXPORT_PATHS.includes((request.url ?? '').split('?', 1)[0]!)
  const type = mediaTypeOf(request.headers['content-type'])
  if (!isExport || (type !== PROTOBUF_TYPE && SHOWN.has(error.status))) answerError(response, error)
  else {
    const { status, headers, body } = failedAnswer(type, error)
    answerBytes(response, status, headers, body)
  }
}

/** Never the text of an error that was not meant for the caller. */
function errorOf(error: unknown, log: Log): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof SearchStoreUnavailable) return new HttpError(503, error.forCallers, { 'retry-after': '1' }, { cause: error })
  log.error({ error }, 'request failed')
  return new HttpError(500, 'internal error', {}, { cause: error })
}
