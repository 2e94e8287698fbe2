/** Where a tenant's request goes, by its path (Spec: Access patterns). */
import { API_KEYS_PATH } from '../../api-keys/key-routes.ts'
import { HttpError } from '../../http/http-error.ts'
import { LOGS_EXPORT_PATH } from '../../otlp-intake/grpc-message.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { exportHttp } from '../../tenant-export/export-http.ts'
import { answerSearch } from '../../tenant-search/search-endpoints.ts'
import { answerJson, methodNotAllowed, type TenantExchange } from '../../upstream/exchange.ts'
import { formatPath } from '../../upstream/request-path.ts'
import type { Upstream } from '../../upstream/upstream.ts'
import { assertAllowed, type BackEnd, isBackEnd } from './back-ends.ts'
import { EXPORT_PATHS } from './ingest/plain-exports.ts'

export interface RoutesConfig {
  readonly exports: Parameters<typeof exportHttp>[0]
  readonly backEnds: Readonly<Record<BackEnd, Upstream>>
  readonly searchDoor: Parameters<typeof answerSearch>[0]
  answerKeys(exchange: TenantExchange): unknown
  /** Whether a tenant may see what concerns all of them. */
  isAdmin(tenant: string): boolean
  readonly metrics: Metrics
}

export interface Route {
  /** The name under which its requests are counted. */
  readonly to: string
  answer(exchange: TenantExchange): unknown
}

/** The function throws an `HttpError` for a path that leads nowhere. */
export function createRoutes({
  exports,
  backEnds,
  searchDoor,
  answerKeys,
  isAdmin,
  metrics,
}: RoutesConfig): (exchange: TenantExchange) => Route {
  const answerBackEnd = (name: BackEnd, exchange: TenantExchange, segments: readonly string[]) => {
    const { request, owner, path } = exchange
    const isOpen = isAdmin(owner.tenant)
    if (!isOpen) assertAllowed(name, request.method ?? 'GET', segments)
    // As text, `/metrics` holds the metrics of the process, which are for all tenants.
    const changed = name === 'agent' && !isOpen ? { accept: 'application/json' } : {}
    return backEnds[name].forward(exchange, { path: formatPath(segments, path.search), headers: changed })
  }

  const answerMetrics = async ({ response, owner }: TenantExchange) => {
    if (!isAdmin(owner.tenant))
      throw new HttpError(403, 'GET /metrics of the gateway speaks for all tenants: only for those in ADMIN_TENANTS')
    response.setHeader('content-type', metrics.contentType)
    ;(response as { end(text: string): unknown }).end(await metrics.text())
  }

  return ({ path: { segments }, request }) => {
    const whole = `/${segments.join('/')}`
    const [first, second, ...rest] = segments
    if (EXPORT_PATHS.includes(whole)) return { to: 'collector', answer: exchange => exportHttp(exports, exchange) }
    if (whole === API_KEYS_PATH) return { to: 'keys', answer: answerKeys }
    if (first === 'api' && second === 'search') return { to: 'search', answer: exchange => answerSearch(searchDoor, exchange, rest) }
    if (first === 'api' && isBackEnd(second)) return { to: second, answer: exchange => answerBackEnd(second, exchange, rest) }
    if (whole === '/health' || whole === '/metrics') {
      if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed(request.method, 'GET, HEAD')
      return { to: 'gateway', answer: whole === '/metrics' ? answerMetrics : ({ response }) => answerJson(response, 200, { status: 'ok' }) }
    }
    if (whole === LOGS_EXPORT_PATH) throw new HttpError(415, 'content-type: expected application/grpc, over HTTP/2')
    throw new HttpError(404, `no such path: ${whole.slice(0, 200)}`)
  }
}
