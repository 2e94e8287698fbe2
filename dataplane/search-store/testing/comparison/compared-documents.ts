/** The documents that both stores hold: logs of three days as the indexer writes them, and an index of somebody's own without a template. */
import fc from 'fast-check'

export type Json = Record<string, unknown>

export interface ComparedDocument {
  readonly index: string
  readonly id: string
  readonly body: Json
}

const MINUTE_MS = 60_000
const LOG_COUNT = 360
const OWN_COUNT = 120
export const OWN_INDEX = 'compare-own'

export const SERVICES = ['cart', 'checkout', 'Payment', 'search-api', 'unknown_service']
export const LEVELS = ['INFO', 'WARN', 'ERROR', 'FATAL', 'DEBUG']
/** Words that stay one token, words that fall apart, and such as the analyzer joins. */
export const WORDS = [
  'connection',
  'refused',
  'timeout',
  'Timed',
  'out',
  'disk',
  'full',
  'Payment',
  '4711',
  '3.14',
  '10.0.0.7:8080',
  'user@example.com',
  "can't",
  'foo_bar',
  'db-7',
  'java.lang.NullPointerException:',
  'ÜBER',
  'straße',
  'naïve',
  '東京',
  'ошибка',
  'a1b2',
  'OOM-killer',
  '/var/log/app.log',
  'id=42,',
  '[main]',
  '🚀',
]

const absent = { requiredKeys: [] as never[] }

/** For queries, and fields that are no text. */
export const message = fc.array(fc.constantFrom(...WORDS), { maxLength: 8 }).map(words => words.join(' '))

/** With a word at least: of text fields without any, OpenSearch's counts and hits disagree (`exists`). */
const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 8 }).map(words => words.join(' '))

/** Minutes before the suite's start: never near a half hour, so that `now-30m` means the same a few minutes later. */
const minutesAgo = fc
  .tuple(fc.integer({ min: 0, max: 95 }), fc.integer({ min: 6, max: 24 }))
  .map(([halfHours, minutes]) => halfHours * 30 + minutes)

const fraction = fc.constantFrom('', '.5', '.120', '.123', '.000001', '.123456789', '.999999999')

/** Custom attributes: one type a field, some absent, some lists. */
const attributes = fc.record(
  {
    'user.id': fc.constantFrom('u-1', 'u-2', 'U-2', ''),
    'http.route': fc.constantFrom('/cart', '/cart/{id}', '/a b'),
    'http.status_code': fc.constantFrom(200, 404, 500, 503),
    duration_ms: fc.constantFrom(0, 0.5, 1, 12, 12.25, 99, 1500, 2500.125),
    retries: fc.integer({ min: -3, max: 40 }),
    ratio: fc.constantFrom(0.1, 0.25, 1.5, -2.75, 3.3333333),
    big: fc.constantFrom(9007199254740991, 123456789012, -5),
    is_cached: fc.boolean(),
    tags: fc.array(fc.constantFrom('red', 'green', 'blue', 'Red'), { maxLength: 3 }),
    counts: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }),
    note: message,
    long_text: fc.constantFrom('x'.repeat(1_024), 'x'.repeat(1_025), 'short'),
    empty: fc.constantFrom(null, [], ''),
    attributes: fc.record(
      { 'service.version': fc.constantFrom('1.0', '2.0'), host: fc.record({ 'os.name': fc.constantFrom('linux', 'Mac OS') }) },
      absent,
    ),
  },
  absent,
)

const logs = (startMs: number) =>
  fc
    .record({
      ago: minutesAgo,
      second: fc.integer({ min: 0, max: 59 }),
      fraction,
      service: fc.constantFrom(...SERVICES),
      level: fc.constantFrom(...LEVELS),
      message: text,
      tenant_id: fc.constantFrom('acme', 'globex'),
      host: fc.option(fc.constantFrom('pod-1', 'pod-2', 'pod-10'), { nil: undefined }),
      trace_id: fc.option(fc.constantFrom('0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331b7ad6b7169203331'), { nil: undefined }),
      severity_number: fc.integer({ min: 1, max: 24 }),
      anomaly_score: fc.constantFrom(0, 0.5, 2.75, 3.1),
      is_anomaly: fc.boolean(),
      ml_error_rate_1h: fc.constantFrom(0, 0.1, 0.3),
      attributes,
    })
    .map(({ ago, second, fraction: digits, attributes: custom, ...rest }) => {
      const whole = new Date(Math.floor(startMs / MINUTE_MS) * MINUTE_MS - ago * MINUTE_MS + second * 1000).toISOString().slice(0, 19)
      return { timestamp: `${whole}${digits}Z`, nanos: Number(digits.slice(4).padEnd(6, '0')), ...withoutUndefined(rest), ...custom }
    })

/** Documents of a user's own: fields by dynamic mapping alone. */
const own = fc.record(
  {
    title: text,
    views: fc.integer({ min: 0, max: 1000 }),
    price: fc.constantFrom(0.5, 1.25, 10.1, 99.99),
    created: fc.constantFrom('2026-01-02', '2026-01-02T03:04:05Z', '2026-02-28T23:59:59.999+01:00'),
    published: fc.boolean(),
    author: fc.record({ name: fc.constantFrom('Ann', 'Bob Lee'), age: fc.integer({ min: 20, max: 60 }) }),
    labels: fc.array(fc.constantFrom('x', 'y z', 'Y Z'), { maxLength: 3 }),
  },
  absent,
)

/** The same for the same seed and start. */
export function comparedDocuments(seed: number, startMs: number): readonly ComparedDocument[] {
  const drawn = fc.sample(logs(startMs), { seed, numRuns: LOG_COUNT }).map((body, at): ComparedDocument => {
    const index = `service-logs-${body.timestamp.slice(0, 10).replaceAll('-', '.')}`
    return { index, id: `doc-${at}`, body: { ...body, log_id: `log-${String(at).padStart(4, '0')}` } }
  })
  const others = fc
    .sample(own, { seed, numRuns: OWN_COUNT })
    .map((body, at): ComparedDocument => ({ index: OWN_INDEX, id: `own-${at}`, body: { ...body, number: at } }))
  return [...drawn, ...others]
}

function withoutUndefined(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
}
