/** Generated aggregations over the fields of the typed documents, as Dashboards and Grafana build them. */
import fc from 'fast-check'
import type { Json } from './compared-documents.ts'
import { DATE_FIELDS, members, NUMBER_FIELDS, typedLeaves } from './typed-queries.ts'

const of = <T>(values: readonly T[]) => fc.constantFrom(...values)

/** Fields that can be grouped by, but for `ip`, whose groups are addresses as they were written, and parts of a `flat_object`, of which OpenSearch shows `java.lang.Object`. */
const GROUPED = [
  'kw',
  'short_kw',
  'low_kw',
  'txt.raw',
  'lng',
  'int',
  'byt',
  'big',
  'dbl',
  'flt',
  'bool',
  'dat',
  'nanos',
  'day',
  'obj.a',
  'obj.b.c',
  'other',
  'dyn_text.keyword',
  'dyn_bool',
  'absent',
  'unindexed',
]
/** Sources of a `composite`. */
const COMPOSED = [
  'n',
  'absent',
  '@timestamp',
  'kw',
  'low_kw',
  'lng',
  'int',
  'byt',
  'dbl',
  'bool',
  'dat',
  'obj.a',
  'obj.b.c',
  'other',
  'unindexed',
]
const groupedField = fc.oneof({ weight: 30, arbitrary: of(GROUPED) }, { weight: 1, arbitrary: of(['txt', 'obj', 'dots']) })
const numberField = fc.oneof(
  { weight: 20, arbitrary: of([...NUMBER_FIELDS.filter(field => field !== 'big'), ...DATE_FIELDS]) },
  { weight: 1, arbitrary: of(['kw', 'txt', 'obj', 'absent']) },
)
const dateField = fc.oneof({ weight: 20, arbitrary: of(DATE_FIELDS) }, { weight: 1, arbitrary: of(['lng', 'kw', 'absent', 'bool', 'txt']) })

const MISSING: readonly unknown[] = ['none', 0, 7, '5', 1.5, true, '2026-01-02', '10.0.0.1', '']
/** A value that the field can hold, mostly. */
const missingFor = (field: string): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 1, arbitrary: of(MISSING) },
    {
      weight: 8,
      arbitrary: of<unknown>(
        NUMBER_FIELDS.includes(field)
          ? [0, 7, '5', 1.5]
          : field.includes('bool')
            ? [true, false, 'true']
            : field === 'day'
              ? ['2026/01/02', 1767323045]
              : DATE_FIELDS.includes(field)
                ? ['2026-01-02', 0, 1767400000000]
                : field === 'ip'
                  ? ['10.0.0.1']
                  : ['none', 'a', ''],
      ),
    },
  )
/** `{ field, missing }`, with a value that stands in for none now and then. */
const on = (fields: fc.Arbitrary<string>, rest: fc.Arbitrary<Json> = fc.constant({})): fc.Arbitrary<Json> =>
  fields.chain(field =>
    fc
      .tuple(fc.option(missingFor(field), { nil: undefined, freq: 1 }), rest)
      .map(([missing, own]) => ({ field, ...own, ...(missing !== undefined && { missing }) })),
  )
const ORDERS: readonly unknown[] = [
  ...[{ _count: 'asc' }, { _count: 'desc' }, { _key: 'asc' }, { _key: 'desc' }, [{ _count: 'desc' }, { _key: 'asc' }]],
]

const interval = of<Json>([
  ...['30m', '1h', '90m', '6h', '1d', '7d'].map(fixed_interval => ({ fixed_interval })),
  ...['1h', 'day', '1w', 'week', 'month', '1M', 'quarter', 'year'].map(calendar_interval => ({ calendar_interval })),
  ...['1d', 'month', '90m'].map(interval => ({ interval })),
])
const LONG_SPANS = ['dat', 'day', 'nanos', 'dyn_date', 'lng', 'bool', 'absent', 'kw', 'txt']
/** Fields of decades are not cut into minutes. */
const fits = (field: unknown, every: Json) =>
  !LONG_SPANS.includes(String(field)) || /month|1M|quarter|year|1x|2d/.test(JSON.stringify(every))

const dateHistogram = fc
  .tuple(
    members(
      {
        field: dateField,
        min_doc_count: of([0, 1, 2]),
        time_zone: of(['Europe/Berlin', 'America/New_York', '-05:30', '+01:00', 'UTC', 'Asia/Kolkata']),
        offset: of(['+1h', '-30m', '1d', '6h', 3_600_000, '-1h']),
        keyed: fc.boolean(),
        order: of<unknown>([{ _key: 'desc' }, { _count: 'desc' }, { m: 'asc' }]),
        format: of([
          'yyyy-MM-dd',
          'epoch_millis',
          'yyyy-MM-dd HH:mm',
          'strict_date_optional_time',
          'dd.MM.yy',
          "yyyy-MM-dd'T'HH:mm:ss.SSSZ",
          'epoch_second',
        ]),
        extended_bounds: of<unknown>([
          { min: '2025-12-30', max: '2026-01-06' },
          { min: 1767225600000, max: 1767312000000 },
          { min: '2026-01-02||/d' },
          { min: '2026-01-01T00:00:00+01:00', max: '2026-01-05T00:00:00+01:00' },
        ]),
      },
      ['field'],
    ),
    interval,
  )
  .map(([content, every]) => ({
    date_histogram: {
      ...content,
      // Buckets of one name are one bucket in a keyed answer, and a summary over them is over one here and over all of them there.
      ...(content['keyed'] === true && { format: undefined }),
      ...(fits(content['field'], every) ? every : { calendar_interval: 'month' }),
      ...(content['extended_bounds'] !== undefined && {
        ...(JSON.stringify(every).match(/1ms|30s|minute/) ? { fixed_interval: '6h', calendar_interval: undefined } : {}),
      }),
    },
  }))

const histogram = members(
  {
    field: numberField.filter(
      field =>
        !DATE_FIELDS.includes(field) &&
        field !== 'big' &&
        field !== 'lng' &&
        field !== 'dbl' &&
        field !== 'flt' &&
        field !== 'other' &&
        field !== 'dyn_long',
    ),
    interval: of<unknown>([0.5, 1, 10, 100]),
    offset: of<unknown>([0, 0.25, 3, -1]),
    min_doc_count: of([0, 1, 2]),
    keyed: fc.boolean(),
    extended_bounds: of<unknown>([{ min: -5, max: 20 }, { min: 3 }]),
    order: of<unknown>([{ _key: 'desc' }, { _count: 'asc' }]),
  },
  ['field', 'interval'],
).map(content => ({ histogram: content }))

const terms = on(
  groupedField,
  members(
    {
      shard_size: fc.constant(10_000),
      size: of([1, 3, 100, 100]),
      order: of(ORDERS),
      min_doc_count: of([0, 1, 3]),
    },
    ['shard_size'],
  ),
).chain(content =>
  fc
    .option(
      NUMBER_FIELDS.includes(String(content['field'])) || content['field'] === 'bool'
        ? of<Json>([{ include: [1, 2] }, { exclude: [1, 10] }, { include: ['1', '0'] }])
        : of<Json>([
            { include: 'a.*' },
            { include: ['a', 'b', '1'] },
            { include: '.*' },
            { include: { partition: 0, num_partitions: 2 } },
            { include: 'c(art|b)' },
            { exclude: 'a.*' },
            { exclude: ['a', ''] },
            { include: 'a.*', exclude: 'ab.*' },
          ]),
      { nil: undefined, freq: 1 },
    )
    .map(filter => ({
      terms: { ...content, ...(content['field'] !== undefined && !DATE_FIELDS.includes(String(content['field'])) && filter) },
    })),
)

const ranges = of<unknown>([
  [{ to: 5 }, { from: 5, to: 300 }, { from: 300 }],
  [{ from: 1.5, to: 2, key: 'mid' }],
  [{}],
  [{ from: '1', to: '10' }],
  [{ from: 10, to: 1 }],
])
const dateRanges = of<unknown>([
  [{ to: '2026-01-03' }, { from: '2026-01-03' }],
  [{ from: '2026-01-02||/d', to: '2026-01-02||+1d/d', key: 'day' }],
  [{ from: 1767323045000 }],
  [{ from: 'now-9y/y', to: 'now+9y/y' }],
])
const bucket: fc.Arbitrary<Json> = fc.oneof(
  { weight: 5, arbitrary: terms },
  { weight: 5, arbitrary: dateHistogram },
  { weight: 2, arbitrary: histogram },
  {
    weight: 1,
    arbitrary: on(
      numberField.filter(field => !DATE_FIELDS.includes(field)),
      members({ ranges, keyed: fc.boolean() }, ['ranges']),
    ).map(range => ({ range })),
  },
  {
    weight: 1,
    arbitrary: members(
      {
        // Segments of one value each are compared in nanoseconds with bounds in milliseconds there.
        field: dateField.filter(field => field !== 'nanos'),
        ranges: dateRanges,
        keyed: fc.boolean(),
        format: of(['yyyy-MM-dd', 'yyyy']),
        time_zone: of(['Europe/Berlin', '-05:00']),
      },
      ['field', 'ranges'],
    ).map(date_range => ({ date_range })),
  },
  { weight: 1, arbitrary: typedLeaves.map(filter => ({ filter })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.array(typedLeaves, { minLength: 1, maxLength: 2 }), fc.boolean(), of([undefined, true, false]), of([undefined, 'rest']))
      .map(([queries, isKeyed, other_bucket, other_bucket_key]) => ({
        filters: {
          filters: isKeyed ? Object.fromEntries(queries.map((query, at) => [`f${at}`, query])) : queries,
          ...(other_bucket !== undefined && { other_bucket }),
          ...(other_bucket_key !== undefined && { other_bucket_key }),
        },
      })),
  },
  { weight: 1, arbitrary: groupedField.map(field => ({ missing: { field } })) },
  {
    weight: 1,
    arbitrary: on(groupedField, members({ max_doc_count: of([1, 5]) })).map(rare_terms => ({ rare_terms })),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(on(groupedField), { minLength: 2, maxLength: 3 })
      .map(list => ({ multi_terms: { terms: list, size: 100, shard_size: 10_000 } })),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(
        fc.oneof(
          members({ field: of(COMPOSED), missing_bucket: fc.boolean(), order: of(['asc', 'desc']) }, ['field']).map(content => ({
            terms: content,
          })),
          members(
            {
              field: of(['@timestamp', 'dat', 'nanos', 'day', 'dyn_date']),
              calendar_interval: of(['day', 'month']),
              time_zone: of(['Europe/Berlin']),
              format: of(['yyyy-MM-dd']),
            },
            ['field', 'calendar_interval'],
          ).map(content => ({ date_histogram: content })),
        ),
        { minLength: 1, maxLength: 2 },
      )
      .map(sources => ({ composite: { size: 10_000, sources: sources.map((source, at) => ({ [`s${at}`]: source })) } })),
  },
)

const metric: fc.Arbitrary<Json> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(of(['min', 'max', 'avg', 'sum', 'stats', 'value_count', 'extended_stats']), on(numberField))
      .map(([type, content]) => ({ [type]: content })),
  },
  { weight: 2, arbitrary: on(groupedField, members({ precision_threshold: of([100, 40_000]) })).map(cardinality => ({ cardinality })) },
  { weight: 1, arbitrary: on(groupedField).map(value_count => ({ value_count })) },
  {
    weight: 1,
    arbitrary: on(numberField, members({ percents: of<unknown>([[50], [25, 75, 99]]), keyed: fc.boolean() })).map(percentiles => ({
      percentiles,
    })),
  },
  {
    weight: 1,
    arbitrary: members(
      {
        size: of([1, 2]),
        from: of([0, 1]),
        sort: of<unknown>([[{ n: 'desc' }], [{ lng: { order: 'asc', missing: '_last' } }, 'n']]),
        _source: of<unknown>(['n', false, { includes: ['kw'] }]),
        version: fc.boolean(),
      },
      ['sort'],
    ).map(top_hits => ({ top_hits })),
  },
  { weight: 1, arbitrary: numberField.map(field => ({ median_absolute_deviation: { field } })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(numberField, numberField)
      .map(([value, weight]) => ({ weighted_avg: { value: { field: value }, weight: { field: weight } } })),
  },
)

const pipeline: fc.Arbitrary<Json> = fc.oneof(
  members({ buckets_path: of(['_count', 'm', 'm.value']), gap_policy: of(['skip', 'insert_zeros']), unit: of(['1h']) }, [
    'buckets_path',
  ]).map(derivative => ({ derivative })),
  of(['_count', 'm']).map(buckets_path => ({ cumulative_sum: { buckets_path } })),
  members({ buckets_path: of(['_count', 'm']), lag: of([1, 2]), gap_policy: of(['skip', 'insert_zeros']) }, ['buckets_path']).map(
    serial_diff => ({ serial_diff }),
  ),
  members(
    {
      buckets_path: of(['_count', 'm']),
      window: of([1, 3]),
      shift: of([0, 1]),
      script: of([
        'MovingFunctions.unweightedAvg(values)',
        'MovingFunctions.max(values)',
        'MovingFunctions.sum(values)',
        'MovingFunctions.stdDev(values, MovingFunctions.unweightedAvg(values))',
      ]),
    },
    ['buckets_path', 'window', 'script'],
  ).map(moving_fn => ({ moving_fn })),
  of(['params.a / params.b', 'params.a * 2 + 1', 'params.a - params.b']).map(script => ({
    bucket_script: { buckets_path: { a: '_count', b: 'm' }, script },
  })),
  members({
    sort: of<unknown>([[{ _count: { order: 'desc' } }, { _key: 'asc' }], [{ m: 'asc' }], []]),
    from: of([0, 1]),
    size: of([1, 2]),
  }).map(bucket_sort => ({ bucket_sort })),
)

const simpleMetric = fc
  .tuple(of(['avg', 'max', 'sum', 'value_count', 'cardinality']), of(['int', 'dbl', 'n', 'dyn_long']))
  .map(([type, field]) => ({ [type]: { field } }))

/** By name: a metric, a bucket with things below, and one over buckets. */
export const typedAggregations: fc.Arbitrary<Json> = fc.oneof(
  { weight: 3, arbitrary: metric.map(m => ({ m })) },
  { weight: 4, arbitrary: bucket.map(b => ({ b })) },
  { weight: 3, arbitrary: fc.tuple(bucket, fc.oneof(simpleMetric, metric)).map(([b, m]) => ({ b: { ...b, aggs: { m } } })) },
  {
    weight: 2,
    // Below a bucket, rare terms have the summaries of others there, and some are lost.
    arbitrary: fc
      .tuple(
        bucket,
        bucket.filter(each => !('rare_terms' in each)),
        simpleMetric,
      )
      .map(([b, c, m]) => ({ b: { ...b, aggs: { c: { ...c, aggs: { m } } } } })),
  },
  { weight: 2, arbitrary: fc.tuple(bucket, simpleMetric, pipeline).map(([b, m, p]) => ({ b: { ...b, aggs: { m, p } } })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        bucket,
        simpleMetric,
        of(['avg_bucket', 'sum_bucket', 'stats_bucket', 'percentiles_bucket', 'extended_stats_bucket']),
        of(['b>m', 'b>_count']),
      )
      .map(([b, m, type, buckets_path]) => ({ b: { ...b, aggs: { m } }, s: { [type]: { buckets_path } } })),
  },
)
