/** Searches of which the documents that they look at tell the cost: exact values, ranges and sums, and neither patterns nor words. */
import { isJsonObject } from '../../json/is-json-object.ts'
import type { QueryCall } from './query-call.ts'

const MAX_BODY_BYTES = 16 * 1024
const MAX_HITS = 1_000
const MAX_CLAUSES = 64
const MAX_AGGREGATIONS = 16
const MAX_LEVELS = 8
const MAX_BUCKETS = 10_000
/** Fields that are shown of a hit, and such as hits are sorted by. */
const MAX_SHOWN = 64
const MAX_SORTED = 8

const PARAMETERS: ReadonlySet<string> = new Set(['ignore_unavailable', 'allow_no_indices', 'expand_wildcards'])
const MEMBERS: ReadonlySet<string> = new Set([
  ...['query', 'size', 'from', 'sort', 'search_after', '_source', 'track_total_hits', 'seq_no_primary_term', 'version', 'aggs'],
])
const BOOL_MEMBERS: ReadonlySet<string> = new Set(['filter', 'must', 'must_not', 'should', 'minimum_should_match'])
const LEAVES: ReadonlySet<string> = new Set(['term', 'terms', 'range', 'ids', 'match_all'])
const METRICS: ReadonlySet<string> = new Set(['min', 'max', 'sum', 'avg', 'value_count'])

/** Whether the call is such a search for certain. Its form need not be valid: running it says what is wrong. */
export function isPlainSearch({ operation, index, parameters, body, page }: QueryCall): boolean {
  if (operation !== 'search' || index === undefined || page !== undefined || body.length > MAX_BODY_BYTES) return false
  if (![...parameters.keys()].every(name => PARAMETERS.has(name))) return false
  const request = parsed(body)
  if (!isJsonObject(request) || !Object.keys(request).every(name => MEMBERS.has(name))) return false
  const { query, aggs, from = 0, size = 10, sort = [], _source: shown = true } = request
  return (
    typeof from === 'number' &&
    typeof size === 'number' &&
    from + size <= MAX_HITS &&
    [sort].flat().length <= MAX_SORTED &&
    (typeof shown === 'boolean' || areNames(shown)) &&
    (query === undefined || clausesOf(query, MAX_LEVELS) <= MAX_CLAUSES) &&
    (aggs === undefined || aggregationsOf(aggs, MAX_LEVELS) <= MAX_AGGREGATIONS)
  )
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

const areNames = (value: unknown): boolean => Array.isArray(value) && value.length <= MAX_SHOWN && value.every(isName)

/** A pattern stands for any number of fields. */
const isName = (value: unknown): boolean => typeof value === 'string' && !value.includes('*')

/** Clauses of a query; Infinity where one is not plain. */
function clausesOf(query: unknown, levels: number): number {
  const [kind, content] = onlyMember(query)
  if (kind === undefined || levels < 0) return Number.POSITIVE_INFINITY
  if (!isJsonObject(content)) return Number.POSITIVE_INFINITY
  if (kind === 'exists') return isName(content['field']) ? 1 : Number.POSITIVE_INFINITY
  if (LEAVES.has(kind)) return 1
  if (kind === 'constant_score') return 1 + clausesOf(content['filter'], levels - 1)
  if (kind !== 'bool') return Number.POSITIVE_INFINITY
  let clauses = 1
  for (const [name, value] of Object.entries(content)) {
    if (!BOOL_MEMBERS.has(name)) return Number.POSITIVE_INFINITY
    if (name !== 'minimum_should_match') for (const each of [value].flat()) clauses += clausesOf(each, levels - 1)
  }
  return clauses
}

/** Aggregations, those below others included; Infinity where one is not plain. */
function aggregationsOf(aggs: unknown, levels: number): number {
  if (!isJsonObject(aggs) || levels === 0) return Number.POSITIVE_INFINITY
  let count = 0
  for (const aggregation of Object.values(aggs)) {
    if (!isJsonObject(aggregation)) return Number.POSITIVE_INFINITY
    const { aggs: below, ...own } = aggregation
    const [kind, content] = onlyMember(own)
    const isPlain = kind !== undefined && isJsonObject(content) && (METRICS.has(kind) || (kind === 'terms' && isPlainTerms(content)))
    count += isPlain ? 1 : Number.POSITIVE_INFINITY
    if (below !== undefined) count += aggregationsOf(below, levels - 1)
  }
  return count
}

/** Its field, its size and its order: `include` may be a pattern. */
function isPlainTerms({ field, size = 10, order: _order, ...others }: Readonly<Record<string, unknown>>): boolean {
  return typeof field === 'string' && typeof size === 'number' && size <= MAX_BUCKETS && Object.keys(others).length === 0
}

function onlyMember(value: unknown): readonly [string, unknown] | readonly [undefined, undefined] {
  const [first, second] = isJsonObject(value) ? Object.entries(value) : []
  return first === undefined || second !== undefined ? [undefined, undefined] : first
}
