/** Generated searches over the typed documents: in which order, which parts of documents, what is marked, what is counted. */
import fc from 'fast-check'
import type { Json } from './compared-documents.ts'
import type { ComparedRequest } from './compared-requests.ts'
import { typedAggregations } from './typed-aggregations.ts'
import { TYPED_INDEX, TYPED_LOGS } from './typed-documents.ts'
import { ALL_FIELDS, members, typedLeaves } from './typed-queries.ts'

const of = <T>(values: readonly T[]) => fc.constantFrom(...values)
const index = of([TYPED_INDEX, TYPED_INDEX, TYPED_LOGS, `${TYPED_INDEX},${TYPED_LOGS}`])
const LAST = [{ n: 'asc' }, { _index: 'asc' }]

const SORTED = [
  'kw',
  'short_kw',
  'low_kw',
  'lng',
  'int',
  'byt',
  'dbl',
  'flt',
  'bool',
  'dat',
  'nanos',
  'day',
  'txt.raw',
  'other',
  'obj.a',
  'obj.b.c',
  'dyn_long',
  'dyn_text.keyword',
  'absent',
  '_id',
]

const order = members({
  order: of(['asc', 'desc']),
  missing: of<unknown>(['_last', '_first', '_first', 5, '5']),
  mode: of(['min', 'max', 'max']),
  unmapped_type: of(['long', 'keyword', 'date']),
})
const rareOrder = fc.oneof(
  { weight: 9, arbitrary: order },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        order,
        of<Json>([
          { mode: 'avg' },
          { mode: 'sum' },
          { mode: 'median' },
          { numeric_type: 'date_nanos' },
          { numeric_type: 'double' },
          { numeric_type: 'long' },
          { numeric_type: 'date' },
          { missing: 'x' },
          { missing: '2026-01-02' },
          { missing: true },
          { order: 'DESC' },
        ]),
      )
      .map(([own, odd]) => ({ ...own, ...odd })),
  },
)
const sort = fc
  .array(fc.tuple(of(SORTED), rareOrder), { minLength: 1, maxLength: 2 })
  .map(keys => [...keys.map(([field, how]) => ({ [field]: how })), ...LAST])

const SOURCES: readonly unknown[] = [
  ...[
    true,
    false,
    'kw',
    ['kw', 'txt'],
    ['obj.*'],
    ['obj'],
    ['flat.b'],
    ['*.c'],
    ['dots'],
    ['dots.in'],
    ['dots.*'],
    ['d*'],
    [],
    '',
    ['absent'],
    ['obj.a', 'dots.in.name'],
  ],
  ...[
    { includes: ['o*'], excludes: ['*.c'] },
    { excludes: ['obj', 'dots.in'] },
    { includes: ['*'], excludes: ['*'] },
    { include: ['kw'] },
    { excludes: ['obj.b.c'] },
    { includes: 'kw' },
  ],
  ...[{ excludes: ['*a'] }, { includes: ['dots.in.name'] }, { nonsense: true }],
]
const DOC_VALUED = ALL_FIELDS.filter(
  field => !['txt', 'plain', 'dyn_text', 'obj', 'obj.b', 'dots', '_id', '_index', 'flat'].includes(field),
)
const DATE_FORMATS = ['epoch_millis', 'yyyy-MM-dd', 'strict_date_optional_time', 'yyyy-MM-dd HH:mm:ss.SSS'].flatMap(format =>
  ['dat', 'day', '@timestamp'].map(field => ({ field, format })),
)

/** OpenSearch shows some fields otherwise than it holds them: `{a=x}` for the parts of a `flat_object`, nothing of a multi-field below a key with dots. */
const isShownAlike = (field: string) => !field.startsWith('flat') && field !== 'dots.in.name.keyword'

const highlight = fc
  .tuple(
    of<unknown>([
      { txt: {} },
      { '*': {} },
      { txt: {}, plain: {}, kw: {} },
      { 'txt*': {} },
      [{ txt: {} }, { plain: {} }],
      { txt: { number_of_fragments: 0 } },
      { txt: { fragment_size: 20 } },
      { dyn_text: { type: 'plain' } },
      { txt: { type: 'unified' } },
    ]),
    members({
      tags: of<unknown>([{ pre_tags: ['['], post_tags: [']'] }]),
      require_field_match: fc.boolean(),
      fragment_size: of([10, 2_147_483_647, 0]),
      number_of_fragments: of([0, 1, 3]),
      order: of(['score']),
    }),
  )
  .map(([fields, { tags, ...options }]) => ({ fields, ...(tags as Json), ...options }))

const withQuery = (rest: fc.Arbitrary<Json>): fc.Arbitrary<ComparedRequest> =>
  fc
    .tuple(index, fc.option(typedLeaves, { nil: undefined, freq: 1 }), rest)
    .map(([path, query, body]) => ({ path: `/${path}/_search`, body: { ...body, ...(query !== undefined && { query }) } }))

/** Without any query OpenSearch counts a document once for equal values of the first source of a `composite`, and below it for each (README of the search store). */
const hasComposite = ({ b }: Json): boolean => b !== undefined && 'composite' in (b as Json)

export const TYPED_REQUESTS: Readonly<Record<string, fc.Arbitrary<ComparedRequest>>> = {
  queries: fc
    .tuple(index, typedLeaves)
    .map(([path, query]) => ({ path: `/${path}/_search`, body: { query, size: 1000, sort: LAST, _source: false } })),
  sorts: withQuery(sort.map(by => ({ sort: by, size: 1000, _source: false }))),
  parts: withQuery(
    fc
      .tuple(
        members({
          _source: of(SOURCES),
          stored_fields: of<unknown>([['*'], []]),
          version: fc.boolean(),
          seq_no_primary_term: fc.boolean(),
        }),
        fc.option(
          fc.tuple(of(['fields', 'docvalue_fields'] as const), fc.uniqueArray(of<unknown>(DOC_VALUED), { minLength: 1, maxLength: 4 })),
          { nil: undefined, freq: 2 },
        ),
        fc.option(of(DATE_FORMATS), { nil: undefined, freq: 2 }),
      )
      .map(([parts, listed, format]) => ({
        ...parts,
        ...(listed !== undefined && {
          [listed[0]]: listed[1].filter(field => listed[0] === 'docvalue_fields' || isShownAlike(String(field))),
        }),
        ...(format !== undefined &&
          listed?.[0] !== 'docvalue_fields' &&
          !listed?.[1].includes(format.field) && { docvalue_fields: [format] }),
        size: 50,
        sort: LAST,
      })),
  ),
  highlights: withQuery(highlight.map(each => ({ highlight: each, size: 1000, sort: LAST, _source: false }))),
  aggregations: withQuery(typedAggregations.map(aggs => ({ ...(hasComposite(aggs) && { query: { match_all: {} } }), aggs, size: 0 }))),
  windows: fc
    .tuple(
      index,
      of<Json>([
        {},
        { from: 5 },
        { from: 10_000 },
        { from: -1 },
        { from: '3' },
        { size: 0 },
        { size: 10_001 },
        { size: -1 },
        { size: '7' },
        { size: 2 ** 31 },
        { from: 9_999, size: 2 },
        { size: null },
      ]),
      of<Json>([true, false, 0, 1, 5, 1000, 'true', -1, -2, 'x', null].map(track_total_hits => ({ track_total_hits }))),
      of<Json>([
        {},
        {},
        { timeout: '1s' },
        { timeout: '500ms' },
        { timeout: '-1' },
        { timeout: 'x' },
        { timeout: 1000 },
        { timeout: '1m' },
        { track_scores: true },
        { search_after: [3, 'x'] },
        { search_after: [3] },
        { search_after: ['x', 'y'] },
        { search_after: [null, null] },
        { search_after: [] },
        { search_after: 'x' },
        { explain: false },
        { stats: ['x'] },
        { indices_boost: [] },
        { ext: {} },
        { profile: false },
        { preference: '_local' },
        { nonsense: 1 },
        { min_score: 0 },
        { version: true },
        { seq_no_primary_term: 'true' },
        { query: {} },
        { query: null },
        { aggs: {} },
        { sort: 'n' },
        { sort: 'n:desc' },
        { sort: { n: 'desc' } },
        { sort: [{ n: 'desc' }, 'kw'] },
        { fields: [] },
        { docvalue_fields: [] },
        { highlight: {} },
        { highlight: { fields: {} } },
        { script_fields: {} },
        { collapse: { field: 'kw' } },
        { post_filter: { term: { kw: 'a' } } },
        { post_filter: {} },
      ]),
    )
    .map(([path, window, total, rest]) => ({
      path: `/${path}/_search`,
      body: { sort: LAST, _source: false, ...window, ...total, ...rest },
    })),
}
