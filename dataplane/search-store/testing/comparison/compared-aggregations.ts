/** Generated aggregations, nested up to three levels. */
import fc from 'fast-check'
import { type Json, LEVELS, SERVICES } from './compared-documents.ts'
import { comparedQueries } from './compared-queries.ts'

const GROUP_FIELDS = [
  'service',
  'level',
  'host',
  'user.id',
  'tags',
  'retries',
  'http.status_code',
  'is_anomaly',
  'ratio',
  'counts',
  'labels.keyword',
  'author.age',
  'absent',
]
const NUMBER_FIELDS = [
  'severity_number',
  'http.status_code',
  'duration_ms',
  'retries',
  'ratio',
  'counts',
  'anomaly_score',
  'views',
  'price',
  'absent',
]
const of = (fields: readonly string[]) => fc.constantFrom(...fields)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 })

function body(model: Readonly<Record<string, fc.Arbitrary<unknown>>>, always: readonly string[] = ['field']): fc.Arbitrary<Json> {
  return fc
    .record(Object.fromEntries(Object.entries(model).map(([key, value]) => [key, always.includes(key) ? value : maybe(value)])))
    .map(record => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)))
}

/** Below a bucket, OpenSearch 3.5 counts no documents where `min` or `max` name a field that the index lacks: there they get such as it has. */
const EXTREME_FIELDS = {
  logs: ['timestamp', 'severity_number', 'duration_ms', 'retries', 'counts'],
  own: ['created', 'views', 'price', 'author.age'],
} as const
export type ComparedIndices = keyof typeof EXTREME_FIELDS | 'both'

const extreme = (indices: keyof typeof EXTREME_FIELDS) =>
  fc.tuple(fc.constantFrom('min', 'max'), body({ field: of(EXTREME_FIELDS[indices]) }))

const metric = fc.oneof(
  fc.tuple(fc.constantFrom('avg', 'sum', 'stats'), body({ field: of(NUMBER_FIELDS), missing: fc.constantFrom(0, 7.5) })),
  fc.tuple(fc.constant('value_count'), body({ field: of([...GROUP_FIELDS, 'timestamp']) })),
  fc.tuple(
    fc.constant('percentiles'),
    body({ field: of(NUMBER_FIELDS), percents: fc.constantFrom([50], [99], [1, 50, 99.9], [0, 100]), keyed: fc.boolean() }),
  ),
  fc.tuple(fc.constant('cardinality'), body({ field: of(GROUP_FIELDS) })),
)

/** Order by a count alone leaves ties to the key, in both. */
const order = fc.constantFrom<unknown>({ _count: 'asc' }, { _key: 'desc' }, { _key: 'asc' }, [{ _count: 'desc' }, { _key: 'asc' }])
const interval = fc.constantFrom<Json>(
  { fixed_interval: '30m' },
  { fixed_interval: '6h' },
  { calendar_interval: 'hour' },
  { calendar_interval: '1d' },
  { calendar_interval: 'week' },
  { calendar_interval: 'month' },
)
const ranges = fc.constantFrom<readonly Json[]>(
  [{ to: 5 }, { from: 5, to: 300 }, { from: 300 }],
  [{ key: 'all' }],
  [
    { from: 0, to: 10 },
    { from: 5, to: 20, key: 'b' },
  ],
)
const dateRanges = fc.constantFrom<readonly Json[]>(
  [{ from: 'now-1d/d', to: 'now/d' }, { to: 'now-36h/h' }],
  [{ from: '2026-01-01', to: '2026-02-01', key: 'january' }],
)

const bucket = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constant('terms'),
        body(
          {
            field: of(GROUP_FIELDS),
            shard_size: fc.constant(1_000),
            size: fc.constantFrom(1, 3, 100),
            order,
            missing: fc.constant('none'),
            min_doc_count: fc.constantFrom(0, 1, 5),
            include: fc.constant([...SERVICES, ...LEVELS]),
          },
          ['field', 'shard_size'],
        ),
      )
      .map(([type, content]) => [type, fitTerms(content)] as const),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constant('date_histogram'),
      fc
        .tuple(
          body({
            field: fc.constantFrom('timestamp', 'created'),
            min_doc_count: fc.constantFrom(0, 1),
            time_zone: fc.constantFrom('Europe/Berlin', '-05:00'),
            order,
            keyed: fc.boolean(),
            offset: fc.constantFrom('+1h', '-30m'),
          }),
          interval,
        )
        .map(([content, every]) => ({ ...content, ...every, ...(Array.isArray(content['order']) && { order: { _key: 'asc' } }) })),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constant('histogram'),
      body(
        { field: of(NUMBER_FIELDS), interval: fc.constantFrom(0.5, 10, 100), min_doc_count: fc.constantFrom(0, 1), keyed: fc.boolean() },
        ['field', 'interval'],
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constant('range'), body({ field: of(NUMBER_FIELDS), ranges, keyed: fc.boolean() }, ['field', 'ranges'])),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constant('date_range'),
      body({ field: fc.constantFrom('timestamp', 'created'), ranges: dateRanges }, ['field', 'ranges']),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constant('filters'),
      fc
        .tuple(fc.array(comparedQueries, { minLength: 1, maxLength: 3 }), fc.boolean(), fc.boolean())
        .map(([queries, isKeyed, other_bucket]) => ({
          filters: isKeyed ? Object.fromEntries(queries.map((query, at) => [`f${at}`, query])) : queries,
          other_bucket,
        })),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constant('filter'), comparedQueries) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('missing'), body({ field: of(GROUP_FIELDS) })) },
)

/** Numbers cannot be filtered by, or stand for, these texts. */
function fitTerms(content: Json): Json {
  const isText = ['service', 'level', 'host', 'user.id', 'tags', 'labels.keyword', 'absent'].includes(String(content['field']))
  if (isText) return content
  const { missing: _missing, include: _include, ...rest } = content
  return rest
}

const topHits = fc.record({
  size: fc.constantFrom(1, 3),
  sort: fc.constant([{ log_id: { order: 'desc', unmapped_type: 'keyword' } }, { number: { order: 'asc', unmapped_type: 'long' } }]),
  _source: fc.constantFrom<unknown>(['service', 'number'], false),
})

/** By name. */
export function comparedAggregations(indices: ComparedIndices): fc.Arbitrary<Json> {
  const anyMetric = indices === 'both' ? metric : fc.oneof({ weight: 3, arbitrary: metric }, { weight: 1, arbitrary: extreme(indices) })
  const leaf = fc.oneof(
    { weight: 4, arbitrary: anyMetric.map(([type, content]) => ({ [type]: content })) },
    { weight: 1, arbitrary: topHits.map(top_hits => ({ top_hits })) },
  )
  return fc.letrec<{ aggs: Json }>(tie => {
    const branch = fc
      .tuple(bucket, tie('aggs'))
      .map(([[type, content], aggs]) => ({ [type]: content, ...(Object.keys(aggs).length > 0 && { aggs }) }))
    return {
      aggs: fc.oneof(
        { maxDepth: 2, depthSize: 'small' },
        fc.array(leaf, { maxLength: 2 }).map(named),
        fc.array(fc.oneof({ weight: 1, arbitrary: leaf }, { weight: 2, arbitrary: branch }), { minLength: 1, maxLength: 2 }).map(named),
      ),
    }
  }).aggs
}

function named(aggregations: readonly Json[]): Json {
  return Object.fromEntries(aggregations.map((each, at) => [`a${at}`, each]))
}
