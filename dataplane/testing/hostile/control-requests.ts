/** Hostile requests to the control APIs: bridge, ticketing, agent, features, scheduler. */
import { mutateBytes, mutateJson, ODD_NAMES } from './odd-values.ts'
import { SeededRandom } from './seeded-random.ts'

export const CONTROL_APIS = ['bridge', 'ticketing', 'agent', 'features', 'scheduler'] as const
export type ControlApi = (typeof CONTROL_APIS)[number]

export interface ControlRequest {
  readonly api: ControlApi
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

interface Call {
  readonly api: ControlApi
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

const FEATURES = ['service_stats:ml_error_rate_1h', 'service_stats:ml_request_rate_1h']

/** Calls of a well-behaved caller; the generator changes them. */
const CALLS: readonly Call[] = [
  { api: 'bridge', method: 'GET', path: '/health' },
  { api: 'bridge', method: 'GET', path: '/config' },
  { api: 'bridge', method: 'PATCH', path: '/config', body: { anomalyThreshold: 2.5, windowSize: 50 } },
  { api: 'ticketing', method: 'GET', path: '/api/incidents?status=open&severity=high&limit=10' },
  { api: 'ticketing', method: 'GET', path: '/api/incidents?service=checkout&from=2026-01-01T00:00:00Z&to=2026-12-31T00:00:00Z' },
  { api: 'ticketing', method: 'GET', path: '/api/incidents?cursor=abc' },
  { api: 'ticketing', method: 'GET', path: '/api/incidents/unknown' },
  { api: 'ticketing', method: 'POST', path: '/api/incidents/unknown/acknowledge', body: { actor: 'a', note: 'b' } },
  { api: 'ticketing', method: 'POST', path: '/api/v1/incidents/batch', body: { ids: ['a', 'b'], action: 'acknowledge' } },
  { api: 'ticketing', method: 'GET', path: '/api/v1/audit?incident_id=a' },
  { api: 'ticketing', method: 'GET', path: '/api/v1/config' },
  { api: 'ticketing', method: 'PATCH', path: '/api/v1/config/anomaly', body: { minimumScore: 0.85, lookbackWindow: '15m' } },
  {
    api: 'ticketing',
    method: 'PATCH',
    path: '/api/v1/config/platforms',
    body: { slack: { enabled: false, webhookUrl: 'https://example.com' } },
  },
  { api: 'ticketing', method: 'PATCH', path: '/api/v1/config/routing', body: { critical: ['slack'] } },
  { api: 'ticketing', method: 'POST', path: '/api/v1/test-connection', body: { platform: 'slack' } },
  { api: 'agent', method: 'GET', path: '/ready' },
  { api: 'agent', method: 'GET', path: '/metrics' },
  {
    api: 'features',
    method: 'POST',
    path: '/get-online-features',
    body: { features: FEATURES, entities: { tenant_id: ['default'], service: ['checkout'] } },
  },
  {
    api: 'features',
    method: 'POST',
    path: '/push',
    body: { push_source_name: 'service_stats', df: { tenant_id: ['hostile'], service: ['s'], ml_error_rate_1h: [0.5] }, to: 'online' },
  },
  { api: 'scheduler', method: 'GET', path: '/api/v1/dags/feature_compute/dagRuns?limit=5' },
  { api: 'scheduler', method: 'GET', path: '/api/v2/dags' },
  { api: 'scheduler', method: 'PATCH', path: '/api/v1/dags/feature_compute', body: { is_paused: false } },
]

/** Endless; a request is at most about 2 MB. */
export function* hostileControlRequests(seed: number): Generator<ControlRequest, never> {
  const random = new SeededRandom(seed)
  for (;;) yield changed(random.pick(CALLS), random)
}

function changed(call: Call, random: SeededRandom): ControlRequest {
  const json = Buffer.from(call.body === undefined ? '' : JSON.stringify(mutateJson(call.body, random)))
  return {
    api: call.api,
    method: random.chance(0.05) ? random.pick(['DELETE', 'PUT', 'OPTIONS', 'PATCH', 'POST']) : call.method,
    path: random.chance(0.3) ? changedPath(call.path, random) : call.path,
    headers: headersOf(random),
    body: call.method === 'GET' ? Buffer.alloc(0) : bodyOf(json, random),
  }
}

function bodyOf(json: Buffer, random: SeededRandom): Buffer {
  if (random.chance(0.02)) return Buffer.alloc(random.pick([100_000, 2_000_000]), '[')
  return random.chance(0.15) ? mutateBytes(json, random) : json
}

function headersOf(random: SeededRandom): Readonly<Record<string, string>> {
  return {
    'content-type': random.chance(0.05)
      ? random.pick(['text/plain', 'application/json; charset=utf-7', 'application/x-www-form-urlencoded'])
      : 'application/json',
    ...(random.chance(0.05) ? { 'x-service-tenant-id': random.pick(['UPPER', '..', 'a'.repeat(64), 'other']) } : {}),
    ...(random.chance(0.03) ? { 'content-encoding': 'gzip' } : {}),
  }
}

/** A parameter or part of the path replaced by something odd, or one more parameter. */
function changedPath(path: string, random: SeededRandom): string {
  const odd = random.chance(0.1) ? '%zz' : encodeURIComponent(random.pick(ODD_NAMES).toWellFormed())
  const [bare = '', query] = path.split('?')
  if (query !== undefined && random.chance(0.6)) {
    const pairs = query.split('&')
    const at = random.below(pairs.length)
    return `${bare}?${pairs.map((pair, k) => (k === at ? `${pair.split('=')[0]}=${odd}` : pair)).join('&')}`
  }
  if (random.chance(0.4)) return `${path}${query === undefined ? '?' : '&'}${odd}=1`
  const parts = bare.split('/')
  parts[1 + random.below(parts.length - 1)] = odd
  return parts.join('/')
}
