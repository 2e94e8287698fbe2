/** Generated searches: what, where, in which order, which part of it. */
import fc from 'fast-check'
import { type ComparedIndices, comparedAggregations } from './compared-aggregations.ts'
import { type Json, OWN_INDEX } from './compared-documents.ts'
import { comparedQueries, misfits } from './compared-queries.ts'

export interface ComparedRequest {
  readonly path: string
  readonly body: Json
}

/** More than there are documents. */
export const ALL_HITS = 1_000

/** Targets of a search, and the fields that each has. */
const INDICES: readonly { readonly indices: ComparedIndices; readonly path: string; readonly weight: number }[] = [
  { indices: 'logs', path: 'service-logs-*', weight: 3 },
  { indices: 'logs', path: 'service-logs-acme', weight: 1 },
  { indices: 'own', path: OWN_INDEX, weight: 1 },
  { indices: 'both', path: `service-logs-*,${OWN_INDEX}`, weight: 1 },
]

const options = fc.record(
  { order: fc.constantFrom('asc', 'desc'), missing: fc.constantFrom('_last', '_first'), mode: fc.constantFrom('min', 'max') },
  { requiredKeys: ['order'] },
)
const sortField = fc.constantFrom(
  'timestamp',
  'service',
  'level',
  'host',
  'severity_number',
  'duration_ms',
  'retries',
  'anomaly_score',
  'is_anomaly',
  'tags',
  'counts',
  'user.id',
  'views',
  'price',
  'created',
  'title.keyword',
  'absent',
)
const TYPES: Readonly<Record<string, string>> = {
  timestamp: 'date',
  created: 'date',
  severity_number: 'integer',
  duration_ms: 'double',
  anomaly_score: 'float',
  price: 'float',
  is_anomaly: 'boolean',
  retries: 'long',
  counts: 'long',
  views: 'long',
}

/** Ends with fields that differ for every document, so that the order is defined. */
const sort = fc
  .array(fc.tuple(sortField, options), { maxLength: 2 })
  .map(keys => [
    ...keys.map(([field, how]) => ({ [field]: { ...how, unmapped_type: TYPES[field] ?? 'keyword' } })),
    { log_id: { order: 'asc', unmapped_type: 'keyword' } },
    { number: { order: 'desc', unmapped_type: 'long' } },
  ])

const source = fc.constantFrom<unknown>(
  true,
  false,
  'service',
  ['service', 'level', 'title'],
  ['http.*', 'author.name'],
  { includes: ['*'], excludes: ['message', 'user*', 'author'] },
  { excludes: ['*.id', 'attributes.host'] },
  [],
)

const highlight = fc.constantFrom<Json>(
  { fields: { message: {} } },
  { fields: { message: { number_of_fragments: 0 } } },
  { fields: { '*': {} }, pre_tags: ['['], post_tags: [']'], require_field_match: false },
  { fields: { message: { number_of_fragments: 0 }, service: {} } },
)

const page = fc.oneof(fc.constant({ size: ALL_HITS }), fc.record({ from: fc.constantFrom(0, 5), size: fc.constantFrom(0, 1, 10, 50) }))

/** Undefined but for so many in ten. */
function sometimes<T>(inTen: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: inTen, arbitrary: value }, { weight: 10 - inTen, arbitrary: fc.constant(undefined) })
}

const requestsTo = (indices: ComparedIndices, index: string): fc.Arbitrary<ComparedRequest> =>
  fc
    .record({
      query: sometimes(9, comparedQueries),
      post_filter: sometimes(1, comparedQueries),
      sort: sometimes(5, sort),
      page,
      _source: sometimes(2, source),
      track_total_hits: sometimes(3, fc.constantFrom<unknown>(true, false, 5, 100)),
      highlight: sometimes(1, highlight),
      aggs: sometimes(3, comparedAggregations(indices)),
      docvalue_fields: sometimes(
        1,
        fc.constantFrom<unknown>(['timestamp', 'retries', 'service', 'is_anomaly'], [{ field: 'timestamp', format: 'epoch_millis' }]),
      ),
    })
    .map(({ page: window, ...rest }) => {
      const body = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
      // Without an order of its own a part of the hits is any part: then all are asked for.
      return { path: `/${index}/_search`, body: { ...body, ...(rest.sort === undefined ? { size: ALL_HITS } : window) } }
    })

export const comparedRequests = fc.oneof(...INDICES.map(({ indices, path, weight }) => ({ weight, arbitrary: requestsTo(indices, path) })))

/** Searches with values that do not fit; on indices that all have the fields, or none. */
export const misfitRequests: fc.Arbitrary<ComparedRequest> = fc
  .record({ index: fc.constantFrom('service-logs-*', OWN_INDEX), query: misfits })
  .map(({ index, query }) => ({ path: `/${index}/_search`, body: { query, size: ALL_HITS } }))
