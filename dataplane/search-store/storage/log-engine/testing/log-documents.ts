/** Log documents as the bridge writes them, in the mix of a web shop; seeded, so every run sees the same. */

const SERVICES = ['checkout', 'payment', 'cart', 'catalog', 'shipping', 'auth', 'search', 'recommendation', 'inventory', 'gateway']
const ROUTES = ['/api/v1/orders/{id}', '/api/v1/cart', '/api/v2/products/search', '/internal/health', '/api/v1/payments/authorize']
const LOGGERS = ['com.shop.http.AccessLog', 'com.shop.db.PoolMonitor', 'com.shop.client.RetryTemplate', 'com.shop.queue.Consumer']
/** The two digits of each byte. */
const HEX = Array.from({ length: 256 }, (_none, byte) => byte.toString(16).padStart(2, '0'))

/** Mulberry32: numbers in [0, 1). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export interface LogDocument {
  readonly id: string
  readonly source: Uint8Array
}

/** Makes the documents of one daily index, in requests of 100 records of one service. */
export function createLogDocuments(seed: number, startMs: number): () => LogDocument {
  const random = createRandom(seed)
  const int = (below: number) => Math.floor(random() * below)
  const hex = (digits: number) => {
    let text = ''
    while (text.length < digits) {
      const bits = int(0x100000000)
      text += HEX[bits >>> 24]! + HEX[(bits >>> 16) & 0xff]! + HEX[(bits >>> 8) & 0xff]! + HEX[bits & 0xff]!
    }
    return text.slice(0, digits)
  }
  const uuid = () => `${hex(8)}-${hex(4)}-5${hex(3)}-a${hex(3)}-${hex(12)}`
  let number = 0
  let pod = ''
  return () => {
    const request = Math.floor(number / 100)
    const service = SERVICES[request % SERVICES.length]!
    if (number++ % 100 === 0) pod = `${service}-7d9f4c${(0x6b + (request % 10)).toString(16)}-${hex(5)}`
    const ms = startMs + request * 50 - int(2000)
    const nanos = int(1_000_000)
    const durationMs = int(900)
    const user = int(90_000) + 10_000
    const entry = message(int, hex, ROUTES[int(ROUTES.length)]!, durationMs, user)
    const trace = int(10) < 7 ? hex(32) : undefined
    const document = {
      timestamp: `${new Date(ms).toISOString().slice(0, -1)}${String(nanos).padStart(6, '0')}Z`,
      nanos,
      time_unix_nano: `${ms}${String(nanos).padStart(6, '0')}`,
      log_id: uuid(),
      level: entry.level,
      severity_number: entry.severity,
      message: entry.text,
      service,
      tenant_id: 'default',
      ...(trace === undefined ? {} : { trace_id: trace, span_id: trace.slice(8, 24) }),
      host: `node-${String(request % 12).padStart(2, '0')}`,
      environment: 'production',
      anomaly_score: 0,
      is_anomaly: false,
      pattern_id: entry.patternId,
      pattern: entry.pattern,
      ml_error_rate_1h: 0,
      ml_p99_latency_1h: 0,
      ml_request_rate_1h: 0,
      ml_anomaly_history_count: 0,
      enriched: true,
      'k8s.namespace.name': 'shop',
      'k8s.deployment.name': service,
      'k8s.pod.name': pod,
      'k8s.container.name': service,
      'http.request.method': 'GET',
      'http.route': entry.route,
      'http.response.status_code': entry.code,
      duration_ms: durationMs + random(),
      'user.id': String(user),
      'logger.name': LOGGERS[int(LOGGERS.length)],
      attributes: { 'service.version': '1.14.2', 'host.name': `node-${String(request % 12).padStart(2, '0')}` },
    }
    return { id: uuid(), source: Buffer.from(JSON.stringify(document)) }
  }
}

type Int = (below: number) => number

function message(int: Int, hex: (digits: number) => string, route: string, durationMs: number, user: number) {
  const share = int(100)
  if (share < 6)
    return {
      level: 'ERROR',
      severity: 17,
      code: 503,
      route,
      patternId: 'a1b2c3d4e5f60718',
      text: `upstream call failed after ${durationMs} ms: POST http://payment.shop.svc:8080${route} answered 503 Service Unavailable, attempt ${1 + int(3)} of 3, order=ord-${hex(8)} user=${user}: java.net.SocketTimeoutException: Read timed out`,
      pattern: `upstream call failed after <n> ms: POST http://payment.shop.svc:<n>${route} answered <n> Service Unavailable, attempt <n> of <n>, order=ord-<hex> user=<n>: java.net.SocketTimeoutException: Read timed out`,
    }
  if (share < 16)
    return {
      level: 'WARN',
      severity: 13,
      code: 429,
      route,
      patternId: '0011223344556677',
      text: `connection pool HikariPool-1 is ${80 + int(20)}% used (active=${40 + int(10)}, idle=${int(10)}, waiting=${int(30)}); slow acquisition of ${durationMs} ms for ${route}, consider a larger maximumPoolSize`,
      pattern: `connection pool HikariPool-<n> is <n>% used (active=<n>, idle=<n>, waiting=<n>); slow acquisition of <n> ms for ${route}, consider a larger maximumPoolSize`,
    }
  return {
    level: 'INFO',
    severity: 9,
    code: 200,
    route,
    patternId: 'fedcba9876543210',
    text: `request completed: method=GET route=${route} status=200 bytes=${int(60_000)} duration_ms=${durationMs} user=${user} session=${hex(16)} client=10.${int(256)}.${int(256)}.${int(256)} agent="Mozilla/5.0 (X11; Linux x86_64)" cache=hit`,
    pattern: `request completed: method=GET route=${route} status=<n> bytes=<n> duration_ms=<n> user=<n> session=<hex> client=<addr> agent=<str> cache=hit`,
  }
}
