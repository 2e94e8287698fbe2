/** Generated documents and queries over a small vocabulary, so that they meet often. */
import fc from 'fast-check'

export type Json = Record<string, unknown>

const WORDS = ['connection', 'timeout', 'disk', 'full', 'db', 'Payment', 'refused', 'to', 'a1', '500']
const SERVICES = ['cart', 'checkout', 'payment', 'search-api']
const LEVELS = ['INFO', 'WARN', 'ERROR', 'FATAL']
export const FIRST_MS = Date.UTC(2026, 10, 21, 9, 0, 0)

const word = fc.constantFrom(...WORDS)
const message = fc.array(word, { minLength: 0, maxLength: 6 }).map(words => words.join(' '))
const timestampMs = fc.integer({ min: 0, max: 7_200_000 }).map(offset => FIRST_MS + offset)
const timestamp = timestampMs.map(ms => new Date(ms).toISOString())
const host = fc.constantFrom('pod-1', 'pod-2', 'pod-10')

/** Fields of one type each, most of them absent at times, some with several values. */
export const documents: fc.Arbitrary<readonly Json[]> = fc.array(
  fc.record(
    {
      timestamp,
      service: fc.constantFrom(...SERVICES),
      level: fc.constantFrom(...LEVELS),
      message,
      tenant_id: fc.constantFrom('acme', 'globex'),
      host,
      is_anomaly: fc.boolean(),
      anomaly_score: fc.constantFrom(0, 0.5, 2.75, 3.1),
      duration_ms: fc.integer({ min: 0, max: 50 }),
      'http.status': fc.constantFrom(200, 404, 500),
      tags: fc.array(fc.constantFrom('red', 'green', 'blue'), { maxLength: 3 }),
      note: message,
      attributes: fc.record({ 'service.version': fc.constantFrom('1.0', '2.0'), zone: fc.constantFrom('a', 'b') }, { requiredKeys: [] }),
    },
    { requiredKeys: ['timestamp', 'tenant_id', 'service', 'level'] },
  ),
  { minLength: 1, maxLength: 60 },
)

const keywordField = fc.constantFrom(
  'service',
  'level',
  'host',
  'tenant_id',
  'tags.keyword',
  'note.keyword',
  'attributes.zone',
  'attributes.service.version',
  'absent',
)
const textField = fc.constantFrom('message', 'note', 'tags')
const numberField = fc.constantFrom('duration_ms', 'anomaly_score', 'http.status')
const keyword = fc.constantFrom(...SERVICES, ...LEVELS, 'pod-1', 'pod-10', 'acme', 'red', '1.0', 'a', 'disk full', 'nothing')
const pattern = fc.constantFrom('p*', '*t', 'pod-?', '*', 'c*t', 'ERR*', 'time*', '?1', 'x*y*z')

const range = fc
  .tuple(fc.constantFrom('gte', 'gt'), fc.constantFrom('lte', 'lt'), fc.boolean(), fc.boolean())
  .map(([low, high, hasLow, hasHigh]) => (min: unknown, max: unknown) => ({
    ...(hasLow && { [low]: min }),
    ...(hasHigh && { [high]: max }),
  }))

const leaf: fc.Arbitrary<Json> = fc.oneof(
  fc.constant({ match_all: {} }),
  fc
    .tuple(textField, message, fc.constantFrom('and', 'or'))
    .map(([field, query, operator]) => ({ match: { [field]: { query, operator } } })),
  fc.tuple(textField, message, fc.constantFrom(0, 1, 3)).map(([field, query, slop]) => ({ match_phrase: { [field]: { query, slop } } })),
  fc.tuple(textField, message).map(([field, query]) => ({ match_phrase_prefix: { [field]: { query } } })),
  fc.tuple(keywordField, keyword).map(([field, value]) => ({ term: { [field]: value } })),
  fc.tuple(textField, word).map(([field, value]) => ({ term: { [field]: value.toLowerCase() } })),
  fc.tuple(keywordField, fc.array(keyword, { maxLength: 3 })).map(([field, values]) => ({ terms: { [field]: values } })),
  fc.tuple(numberField, fc.constantFrom(0, 0.5, 3.1, 7, 200)).map(([field, value]) => ({ term: { [field]: value } })),
  fc.boolean().map(value => ({ term: { is_anomaly: value } })),
  fc.tuple(numberField, fc.integer({ min: -1, max: 60 }), fc.integer({ min: -1, max: 500 }), range).map(([field, a, b, make]) => ({
    range: { [field]: make(a, b) },
  })),
  fc.tuple(timestampMs, timestampMs, range, fc.boolean()).map(([a, b, make, isWhole]) => {
    const round = (ms: number): number => (isWhole ? Math.floor(ms / 60_000) * 60_000 : ms)
    return { range: { timestamp: make(new Date(round(Math.min(a, b))).toISOString(), round(Math.max(a, b))) } }
  }),
  fc.tuple(keywordField, keyword, keyword, range).map(([field, a, b, make]) => ({ range: { [field]: make(a, b) } })),
  fc
    .constantFrom('service', 'message', 'duration_ms', 'tags', 'attributes', 'attributes.zone', 'http', 'http.status', 'absent')
    .map(field => ({ exists: { field } })),
  fc.tuple(fc.oneof(keywordField, textField), pattern).map(([field, value]) => ({ wildcard: { [field]: value } })),
  fc
    .tuple(fc.oneof(keywordField, textField), fc.constantFrom('p', 'pod', 'ti', ''))
    .map(([field, value]) => ({ prefix: { [field]: value } })),
  fc.array(fc.integer({ min: 0, max: 70 }), { maxLength: 4 }).map(ids => ({ ids: { values: ids.map(id => `doc-${id}`) } })),
  fc
    .constantFrom(
      'timeout',
      'disk AND full',
      '"disk full" -db',
      'level:ERROR OR host:pod-*',
      'duration_ms:>10 +service:cart',
      '_exists_:note',
      'time*',
      '500',
    )
    .map(query => ({ query_string: { query } })),
  fc.constantFrom('timeout + db', '"disk full" | refused', 'time* -to').map(query => ({ simple_query_string: { query } })),
  message.map(query => ({ multi_match: { query, fields: ['message^2', 'note'] } })),
)

/** Nested up to four levels. */
export const queries: fc.Arbitrary<Json> = fc.letrec<{ query: Json }>(tie => ({
  query: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    leaf,
    fc
      .record(
        {
          must: fc.array(tie('query'), { maxLength: 2 }),
          filter: fc.array(tie('query'), { maxLength: 2 }),
          should: fc.array(tie('query'), { maxLength: 3 }),
          must_not: fc.array(tie('query'), { maxLength: 2 }),
          minimum_should_match: fc.constantFrom(0, 1, 2, '50%'),
        },
        { requiredKeys: [] },
      )
      .map(bool => ({ bool })),
    tie('query').map(filter => ({ constant_score: { filter, boost: 2 } })),
  ),
})).query

/** The mapping that logs get, near enough. */
export const LOG_MAPPINGS = {
  dynamic_templates: [],
  properties: {
    timestamp: { type: 'date' },
    service: { type: 'keyword' },
    level: { type: 'keyword' },
    message: { type: 'text' },
    tenant_id: { type: 'keyword' },
    host: { type: 'keyword' },
    is_anomaly: { type: 'boolean' },
    anomaly_score: { type: 'float' },
    attributes: { type: 'flat_object' },
  },
}
