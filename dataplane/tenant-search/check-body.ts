/** Holds a search of a tenant against what is known to stay within its documents: what is not in these tables is refused (Decisions 7). */
import { HttpError } from '../http/http-error.ts'
import { isJsonObject } from '../json/is-json-object.ts'

type Json = Readonly<Record<string, unknown>>
type Check = (value: unknown, where: string, depth: number) => void

/** Levels of clauses, and of aggregations within each other (Decisions 7). */
const MAX_DEPTH = 100

const any: Check = () => undefined

/** The members of a search, each with the check of its value. */
const SEARCH: Readonly<Record<string, Check>> = {
  query: checkClause,
  post_filter: checkClause,
  aggs: checkAggregations,
  aggregations: checkAggregations,
  sort: checkSort,
  highlight: checkHighlight,
  collapse: members({ field: any, max_concurrent_group_searches: any }),
  ...free(
    'size from search_after track_total_hits track_scores _source fields docvalue_fields stored_fields timeout version seq_no_primary_term min_score',
    'terminate_after',
  ),
}

/** Leaves whose values are terms and options, with the members that are refused. */
const LEAVES = free(
  'match match_all match_none match_phrase match_phrase_prefix match_bool_prefix multi_match range exists prefix wildcard regexp fuzzy ids',
  'query_string simple_query_string term',
)

const CLAUSES: Readonly<Record<string, Check>> = {
  ...LEAVES,
  terms: checkTerms,
  bool: members({
    ...{ must: checkClauses, should: checkClauses, filter: checkClauses, must_not: checkClauses },
    ...free('minimum_should_match boost adjust_pure_negative _name'),
  }),
  constant_score: members({ filter: checkClause, ...free('boost _name') }),
  dis_max: members({ queries: checkClauses, ...free('tie_breaker boost _name') }),
  boosting: members({ positive: checkClause, negative: checkClause, ...free('negative_boost boost _name') }),
}

/** Numbers of the tenant's documents alone. A `terms` with `min_doc_count` 0 would name values of others. */
const BUCKETS: Readonly<Record<string, Check>> = {
  terms: checkTermsBuckets,
  filter: checkClause,
  filters: checkFilters,
  composite: checkComposite,
  top_hits: members({
    sort: checkSort,
    highlight: checkHighlight,
    ...free('size from _source docvalue_fields fields track_scores version'),
  }),
  ...Object.fromEntries(
    (
      'date_histogram histogram auto_date_histogram range date_range missing avg sum min max stats extended_stats value_count cardinality ' +
      'percentiles percentile_ranks median_absolute_deviation derivative cumulative_sum avg_bucket sum_bucket min_bucket max_bucket stats_bucket ' +
      'percentiles_bucket bucket_sort serial_diff'
    )
      .split(' ')
      .map(name => [name, checkPlainAggregation]),
  ),
}

/** Throws `HttpError` 400 for a form that no search has, 403 for what could reach beyond the tenant. */
export function checkSearchBody(body: Json): void {
  members(SEARCH)(body, '', 0)
}

/** Checks the body of a `_count`: a query alone. */
export function checkCountBody(body: Json): void {
  members({ query: checkClause })(body, '', 0)
}

function free(...names: readonly string[]): Readonly<Record<string, Check>> {
  return Object.fromEntries(names.flatMap(list => list.split(' ')).map(name => [name, any]))
}

function members(known: Readonly<Record<string, Check>>): Check {
  return (value, where, depth) => {
    for (const [name, inner] of Object.entries(objectOf(value, where))) {
      const path = pathOf(where, name)
      if (!Object.hasOwn(known, name)) throw outside(path)
      known[name]!(inner, path, depth)
    }
  }
}

function checkClause(value: unknown, where: string, depth: number): void {
  if (depth >= MAX_DEPTH) throw new HttpError(400, `query: expected at most ${MAX_DEPTH} levels of nesting`)
  members(CLAUSES)(value, where, depth + 1)
}

function checkClauses(value: unknown, where: string, depth: number): void {
  for (const clause of Array.isArray(value) ? value : [value]) checkClause(clause, where, depth)
}

/** Without look-ups, which read the documents of any index. */
function checkTerms(value: unknown, where: string): void {
  for (const [name, terms] of Object.entries(objectOf(value, where)))
    if (isObject(terms)) throw new HttpError(403, `${pathOf(where, name)}: expected a list of terms; look-ups are not allowed here`)
}

function checkAggregations(value: unknown, where: string, depth: number): void {
  if (depth >= MAX_DEPTH) throw new HttpError(400, `aggs: expected at most ${MAX_DEPTH} levels of nesting`)
  for (const [name, aggregation] of Object.entries(objectOf(value, where)))
    members({ ...BUCKETS, aggs: checkAggregations, aggregations: checkAggregations, meta: any })(
      aggregation,
      pathOf(where, name),
      depth + 1,
    )
}

/** Fields and options; no scripts, and nothing that is an object of its own but ranges and order. */
function checkPlainAggregation(value: unknown, where: string): void {
  for (const [name, inner] of Object.entries(objectOf(value, where))) {
    if (name.includes('script')) throw outside(pathOf(where, name))
    if (name === 'missing' || name === 'include' || name === 'exclude') continue
    const parts = Array.isArray(inner) ? inner : [inner]
    const options = parts.filter(isObject).flatMap(part => Object.keys(part))
    if (options.some(option => option.includes('script'))) throw outside(pathOf(where, name))
  }
}

function checkTermsBuckets(value: unknown, where: string): void {
  checkPlainAggregation(value, where)
  const { min_doc_count: least } = value as Json
  if (least !== undefined && !(typeof least === 'number' && least >= 1))
    throw new HttpError(403, `${where}.min_doc_count: expected 1 or more`)
}

function checkFilters(value: unknown, where: string, depth: number): void {
  const filters: Check = (inner, path) => {
    for (const clause of Array.isArray(inner) ? inner : Object.values(objectOf(inner, path))) checkClause(clause, path, depth)
  }
  members({ filters, ...free('other_bucket other_bucket_key keyed') })(value, where, depth)
}

function checkComposite(value: unknown, where: string, depth: number): void {
  const source = members({ terms: checkPlainAggregation, histogram: checkPlainAggregation, date_histogram: checkPlainAggregation })
  const sources: Check = (inner, path) => {
    if (!Array.isArray(inner)) throw new HttpError(400, `${path}: expected a list`)
    for (const named of inner) for (const one of Object.values(objectOf(named, path))) source(one, path, depth)
  }
  members({ sources, ...free('size after') })(value, where, depth)
}

const SORT_OPTIONS = members(free('order missing mode unmapped_type numeric_type format'))

function checkSort(value: unknown, where: string, depth: number): void {
  for (const part of Array.isArray(value) ? value : [value]) {
    if (!isObject(part)) continue
    for (const [field, options] of Object.entries(part)) {
      if (field === '_script' || field === '_geo_distance') throw outside(pathOf(where, field))
      if (isObject(options)) SORT_OPTIONS(options, pathOf(where, field), depth)
    }
  }
}

const HIGHLIGHT_OPTIONS = free(
  'type pre_tags post_tags fragment_size number_of_fragments order require_field_match no_match_size encoder max_analyzer_offset tags_schema',
  'boundary_chars boundary_max_scan boundary_scanner boundary_scanner_locale matched_fields force_source fragmenter phrase_limit',
)

function checkHighlight(value: unknown, where: string, depth: number): void {
  const fields: Check = (inner, path) => {
    const named = Array.isArray(inner) ? inner.flatMap(one => Object.entries(objectOf(one, path))) : Object.entries(objectOf(inner, path))
    for (const [field, options] of named) members(HIGHLIGHT_OPTIONS)(options, pathOf(path, field), depth)
  }
  members({ ...HIGHLIGHT_OPTIONS, fields })(value, where, depth)
}

function isObject(value: unknown): value is Json {
  return isJsonObject(value) && !isRawJson(value)
}

/** A number that is kept as it is written; not in TypeScript's library yet. */
const { isRawJSON: isRawJson } = JSON as unknown as { isRawJSON(value: unknown): boolean }

function objectOf(value: unknown, where: string): Json {
  if (isObject(value)) return value
  throw new HttpError(400, `${where === '' ? 'body' : where}: expected an object`)
}

function pathOf(where: string, name: string): string {
  const path = where === '' ? name : `${where}.${name}`
  return path.length > 200 ? `…${path.slice(-200)}` : path
}

function outside(path: string): HttpError {
  return new HttpError(403, `${path}: not allowed for one tenant`)
}
