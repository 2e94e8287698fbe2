/** The way of a request at the gateway: who sends it, where it goes, how it is answered and counted. */
import type { KeyCheck } from '../../api-keys/key-check.ts'
import type { KeyOwner } from '../../api-keys/key-store.ts'
import { API_KEY_HEADER } from '../../contract/headers.ts'
import { HttpError } from '../../http/http-error.ts'
import { createPlainLane } from '../../http/plain-lane/plain-lane.ts'
import type { ConnectionLane } from '../../http/server.ts'
import type { LocalCollector } from '../../otlp-intake/local-collector.ts'
import { MemoryBudget } from '../../otlp-intake/memory-budget.ts'
import { monotonicMs } from '../../ports/clock.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { DROPPED_BY_GATEWAY } from '../../tenant-export/attribute-names.ts'
import { createSearchDoor } from '../../tenant-search/search-endpoints.ts'
import { createAwayLog } from '../../upstream/away-log.ts'
import { type GatewayRequest, type GatewayResponse, stopReading, type TenantExchange } from '../../upstream/exchange.ts'
import { parseRequestPath } from '../../upstream/request-path.ts'
import { createAdmit } from './admission.ts'
import { answerFailure, errorOf } from './answer-failure.ts'
import { createAnswerKeys } from './answer-keys.ts'
import type { GatewayConfig } from './gateway-config.ts'
import { GrpcCall, isGrpc } from './ingest/export-grpc.ts'
import { createGrpcUpstream } from './ingest/grpc-upstream.ts'
import { createPlainExports, EXPORT_PATHS } from './ingest/plain-exports.ts'
import { createRateLimit, NO_LIMIT } from './rate-limit.ts'
import { createRoutes } from './routes.ts'
import { type CallHandler, REQUEST_TIMEOUT_MS } from './tls/tls-server.ts'
import { openUpstreams } from './upstreams.ts'

const REQUESTS = { name: 'logpipeline_gateway_requests_total', help: 'Requests at the gateway, by where they went and how they ended' }
const CALLER_GONE = new Error('the caller is gone')

export function createFront(config: GatewayConfig, check: KeyCheck, metrics: Metrics) {
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
      const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
      answerFailure(request, response, new HttpError(status, message, headers))
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

  /** For plain exports that stay in this process. */
  const lane = (collector: LocalCollector): ConnectionLane =>
    createPlainLane({
      ...{ paths: EXPORT_PATHS, wantedHeader: API_KEY_HEADER, requestTimeoutMs: REQUEST_TIMEOUT_MS },
      nowMs: () => clock.nowMs(),
      monotonicMs: () => monotonicMs(clock),
      createHandler: createPlainExports({
        ...{ collector, admit, limit, budget, maxRequestBytes, log },
        count: status => count(['collector', String(status)], 1),
      }),
      onError: error => log.debug({ error }, 'HTTP connection failed'),
    })

  return {
    calls,
    lane: config.collector.local && lane(config.collector.local),
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
