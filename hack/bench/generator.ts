/** The log records the benchmark sends: a web shop's access log (84 %), pool warnings (10 %) and failed calls (6 %), as OTLP. */
import { Random } from './random.ts'

export type GeneratedValue = { readonly stringValue: string } | { readonly intValue: string } | { readonly doubleValue: number }

export interface GeneratedAttribute {
  readonly key: string
  readonly value: GeneratedValue
}

export interface GeneratedRecord {
  readonly timeUnixNano: string
  readonly observedTimeUnixNano: string
  readonly severityNumber: number
  readonly severityText: string
  readonly body: { readonly stringValue: string }
  readonly attributes: readonly GeneratedAttribute[]
  readonly flags?: number
  readonly traceId?: string
  readonly spanId?: string
}

/** One `ExportLogsServiceRequest` of a single pod. */
export interface GeneratedRequest {
  readonly resourceLogs: readonly [
    {
      readonly resource: { readonly attributes: readonly GeneratedAttribute[] }
      readonly scopeLogs: readonly [{ readonly scope: { readonly name: string }; readonly logRecords: readonly GeneratedRecord[] }]
    },
  ]
}

const SERVICES = ['checkout', 'payment', 'cart', 'catalog', 'shipping', 'auth', 'search', 'recommendation', 'inventory', 'gateway']
/** Pods of a large shop. Each sends its share of the requests, however many records a request has. */
export const PODS = 200
const ROUTES = ['/api/v1/orders/{id}', '/api/v1/cart', '/api/v2/products/search', '/internal/health', '/api/v1/payments/authorize']
const LOGGERS = ['com.shop.http.AccessLog', 'com.shop.db.PoolMonitor', 'com.shop.client.RetryTemplate', 'com.shop.queue.Consumer']

/** Stands in for the times until a request is sent: 19 digits, so that both encodings have a fixed width. */
const PLACEHOLDER_TIME = '1700000000000000000'

/** Makes `count` different requests, of so many pods in turn; equal arguments give equal requests. */
export function generateRequests(count: number, recordsPerRequest: number, seed = 1, podCount = PODS): GeneratedRequest[] {
  const random = new Random(seed)
  const pods = Array.from({ length: podCount }, (_, i) => buildPod(random, i))
  return Array.from({ length: count }, (_, i) => {
    const logRecords = Array.from({ length: recordsPerRequest }, () => buildRecord(random))
    const resource = { attributes: pods[i % pods.length]! }
    return { resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 'com.shop.logging' }, logRecords }] }] }
  })
}

/** Its resource attributes. */
function buildPod(random: Random, index: number): readonly GeneratedAttribute[] {
  const service = SERVICES[index % SERVICES.length]!
  return strings({
    'service.name': service,
    'service.version': '1.14.2',
    'deployment.environment.name': 'production',
    'host.name': `node-${String(index % 12).padStart(2, '0')}`,
    'k8s.namespace.name': 'shop',
    'k8s.deployment.name': service,
    'k8s.pod.name': `${service}-${(0x7d9f4c6b + (index % SERVICES.length)).toString(16)}-${random.hex(5)}`,
    'k8s.container.name': service,
  })
}

interface Line {
  readonly severityNumber: number
  readonly severityText: string
  readonly code: number
  readonly message: string
}

function buildRecord(random: Random): GeneratedRecord {
  const route = random.pick(ROUTES)
  const ms = random.below(900)
  const user = 10_000 + random.below(90_000)
  const { severityNumber, severityText, code, message } = buildLine(random, route, ms, user)
  const isTraced = random.below(10) < 7
  return {
    timeUnixNano: PLACEHOLDER_TIME,
    observedTimeUnixNano: PLACEHOLDER_TIME,
    severityNumber,
    severityText,
    body: { stringValue: message },
    attributes: [
      ...strings({ 'http.request.method': 'GET', 'http.route': route }),
      { key: 'http.response.status_code', value: { intValue: String(code) } },
      { key: 'duration_ms', value: { doubleValue: ms + random.uint32() / 2 ** 32 } },
      ...strings({ 'user.id': String(user), 'logger.name': random.pick(LOGGERS) }),
    ],
    ...(isTraced ? { flags: 1, traceId: random.hex(32), spanId: random.hex(16) } : {}),
  }
}

function buildLine(random: Random, route: string, ms: number, user: number): Line {
  const share = random.below(100)
  if (share < 6)
    return {
      severityNumber: 17,
      severityText: 'ERROR',
      code: 503,
      message:
        `upstream call failed after ${ms} ms: POST http://payment.shop.svc:8080${route} answered 503 Service Unavailable, ` +
        `attempt ${1 + random.below(3)} of 3, order=ord-${random.hex(8)} user=${user}: java.net.SocketTimeoutException: Read timed out`,
    }
  if (share < 16)
    return {
      severityNumber: 13,
      severityText: 'WARN',
      code: 429,
      message:
        `connection pool HikariPool-1 is ${80 + random.below(20)}% used (active=${40 + random.below(10)}, idle=${random.below(10)}, ` +
        `waiting=${random.below(30)}); slow acquisition of ${ms} ms for ${route}, consider a larger maximumPoolSize`,
    }
  return {
    severityNumber: 9,
    severityText: 'INFO',
    code: 200,
    message:
      `request completed: method=GET route=${route} status=200 bytes=${random.below(60_000)} duration_ms=${ms} user=${user} ` +
      `session=${random.hex(16)} client=10.${random.below(256)}.${random.below(256)}.${random.below(256)} ` +
      'agent="Mozilla/5.0 (X11; Linux x86_64)" cache=hit',
  }
}

function strings(pairs: Readonly<Record<string, string>>): GeneratedAttribute[] {
  return Object.entries(pairs).map(([key, stringValue]) => ({ key, value: { stringValue } }))
}
