/** The parts that must be alike in the answers of two stores to one search. */
import type { StoreAnswer } from './two-stores.ts'

type Json = Readonly<Record<string, unknown>>

/** How the refusals of the embedded store end that are a gap and no fault of the request. */
const NOT_SUPPORTED = /not supported by the embedded search store/

/** Relative; sums are added up in another order. */
const TOLERANCE = 1e-6

/** The first difference in words; undefined where the answers say the same. */
export function differenceOf(real: StoreAnswer, embedded: StoreAnswer): string | undefined {
  if (embedded.status === 400 && NOT_SUPPORTED.test(JSON.stringify(embedded.body))) return undefined
  if (real.status !== embedded.status) return `status ${real.status} ${errorOf(real)} and ${embedded.status} ${errorOf(embedded)}`
  if (real.status >= 400) return undefined
  return compare(comparable(real.body), comparable(embedded.body), '')
}

const errorOf = ({ body }: StoreAnswer) => JSON.stringify(body.error ?? '').slice(0, 300)

/** Leaves out what is a store's own: times, scores, the order of hits where nothing defines it. */
function comparable(body: Json): Json {
  const { _shards: shards, hits, aggregations } = body as { _shards: Json; hits: Json & { hits: readonly Json[] }; aggregations?: Json }
  const shown = hits.hits.map(({ _score, ...hit }) => hit)
  const isSorted = shown.some(hit => 'sort' in hit)
  return {
    failed: Number(shards['failed']) > 0,
    total: hits['total'],
    hits: isSorted ? shown : shown.toSorted((a, b) => (`${a['_index']}/${a['_id']}` < `${b['_index']}/${b['_id']}` ? -1 : 1)),
    ...(aggregations !== undefined && { aggregations: withoutScores(aggregations) }),
  }
}

/** Scores, and the empty `meta` that OpenSearch shows where a shard could skip an aggregation. */
function isOwn(key: string, value: unknown): boolean {
  return key === '_score' || key === 'max_score' || (key === 'meta' && JSON.stringify(value) === '{}')
}

/** Percentiles are estimates in OpenSearch: `percentiles.ts` compares them by rank. */
function withoutEstimates(values: unknown): unknown {
  if (Array.isArray(values)) return values.map(item => ({ key: item.key, isNull: item.value === null }))
  return Object.fromEntries(Object.entries(values as Json).map(([key, value]) => [key, value === null]))
}

function withoutScores(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutScores)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      if (isOwn(key, member)) return []
      return [[key, key === 'values' ? withoutEstimates(member) : withoutScores(member)]]
    }),
  )
}

function compare(real: unknown, embedded: unknown, at: string): string | undefined {
  if (typeof real === 'number' && typeof embedded === 'number') {
    const isNear = real === embedded || Math.abs(real - embedded) <= TOLERANCE * Math.max(Math.abs(real), Math.abs(embedded))
    return isNear ? undefined : `${at}: ${real} and ${embedded}`
  }
  if (
    typeof real !== 'object' ||
    typeof embedded !== 'object' ||
    real === null ||
    embedded === null ||
    Array.isArray(real) !== Array.isArray(embedded)
  )
    return Object.is(real, embedded) ? undefined : `${at}: ${show(real)} and ${show(embedded)}`
  const theirs = real as Json
  const ours = embedded as Json
  // OpenSearch shows no text where the first of the indices lacks the field.
  const keys = new Set([...Object.keys(theirs), ...Object.keys(ours)])
  if (!('value_as_string' in theirs)) keys.delete('value_as_string')
  for (const key of keys) {
    const difference = compare(theirs[key], ours[key], `${at}.${key}`)
    if (difference !== undefined) return difference
  }
  return undefined
}

const show = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 300))
