/** The body of a search, checked for form. */

import { isJsonObject } from '../../../json/is-json-object.ts'
import { type AggregationSpec, parseAggregations, type SummarySpec } from '../../aggregate/parse/parse.ts'
import { ApiError, illegalArgument, parsingError, refusedByShards, unsupported, validationError } from '../../api-error.ts'
import { parseDurationMs } from '../../dates/time-value.ts'
import { type JsonObject, readBoolean, readInteger, readObject, readString, readStrings, words } from '../../json/json-reader.ts'
import { type FieldFormat, parseFieldFormats } from '../show/field-formats.ts'
import { parseSourceFilter, type SourceFilter } from '../show/source-filter.ts'
import { type HighlightSpec, parseHighlight } from './highlight-spec.ts'
import { parseQuery, parseSearchQuery } from './parse.ts'
import { MATCH_ALL, type Query, type Scalar } from './query.ts'
import { parseSearchAfter, parseSort, type SortSpec } from './sort-spec.ts'

/** The point in time that a search looks at. */
export interface PointInTime {
  readonly id: string
  /** From now on; undefined: as before. */
  readonly keepAliveMs?: number
}

export interface SearchRequest {
  readonly query: Query
  /** Narrows the hits, and not what the aggregations get. */
  readonly postFilter?: Query
  readonly from: number
  readonly size: number
  readonly sort: readonly SortSpec[]
  readonly searchAfter?: readonly (Scalar | null)[]
  readonly source: SourceFilter
  readonly fields: readonly FieldFormat[]
  /** Totals are exact up to here; `NOT_COUNTED`: not shown, Infinity: always exact. */
  readonly trackTotalHits: number
  readonly isTotalGiven: boolean
  readonly trackScores: boolean
  readonly highlight?: HighlightSpec
  readonly aggregations: readonly AggregationSpec[]
  /** Summaries of the aggregations' results. */
  readonly summaries: readonly SummarySpec[]
  readonly timeoutMs?: number
  /** Matches of each index after which the search goes no further. */
  readonly terminateAfter?: number
  readonly pointInTime?: PointInTime
  readonly showVersion: boolean
  readonly showSeqNo: boolean
  readonly showId: boolean
}

const MAX_RESULT_WINDOW = 10_000
const DEFAULT_TRACK_TOTAL_HITS = 10_000

const KNOWN = words(`
  query post_filter from size sort search_after _source fields docvalue_fields stored_fields track_total_hits track_scores highlight aggs
  aggregations timeout terminate_after version seq_no_primary_term stats pit
`)

const KNOWN_ELSEWHERE = new Set(
  words(`
    min_score explain profile collapse suggest rescore script_fields slice indices_boost ext derived
    include_named_queries_score search_pipeline verbose_pipeline partial_fields knn point_in_time runtime_mappings
  `),
)

/** Dashboards send these with nothing in them. */
const MAY_BE_EMPTY = new Set(['script_fields', 'runtime_mappings', 'ext', 'rescore', 'indices_boost', 'suggest'])
/** Clients say that they do not want these. */
const MAY_BE_FALSE = new Set(['explain', 'profile', 'include_named_queries_score', 'verbose_pipeline'])
const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0

/** Throws 400 for what is malformed, unknown, not supported or out of bounds. */
export function parseSearchRequest(body: JsonObject): SearchRequest {
  for (const [key, value] of Object.entries(body)) {
    if (KNOWN.includes(key) || (MAY_BE_EMPTY.has(key) && isEmpty(value)) || (MAY_BE_FALSE.has(key) && value === false)) continue
    if (KNOWN_ELSEWHERE.has(key)) throw unsupported(`search parameter [${key}]`)
    throw parsingError(`unknown key [${key}] in a search request`)
  }
  if (body['aggs'] !== undefined && body['aggregations'] !== undefined) throw parsingError('[aggs] and [aggregations] cannot both be given')
  const sort = body['sort'] === undefined ? [] : parseSort(body['sort'])
  const highlight = body['highlight'] === undefined ? undefined : parseHighlight(body['highlight'])
  const timeoutMs = body['timeout'] === undefined ? undefined : parseDurationMs(body['timeout'], 'timeout')
  const searchAfter = body['search_after'] === undefined ? undefined : parseSearchAfter(body['search_after'], sort)
  const terminateAfter = parseTerminateAfter(body['terminate_after'])
  const storedSource = sourceBeside(body['stored_fields'])
  const aggregations = parseAggregations(body['aggs'] ?? body['aggregations'])
  const postFilter = body['post_filter'] === undefined ? undefined : parseQuery(body['post_filter'])
  // OpenSearch counts hits that passed the filter, and ends the aggregations with them.
  if (postFilter !== undefined && terminateAfter !== undefined && aggregations.below.length > 0)
    throw unsupported('[terminate_after] with [post_filter] and aggregations')
  return {
    query: body['query'] === undefined ? MATCH_ALL : parseSearchQuery(body['query']),
    ...(postFilter !== undefined && { postFilter }),
    ...parseWindow(body),
    sort,
    ...(searchAfter !== undefined && { searchAfter }),
    source: parseSourceFilter(body['_source'] ?? storedSource),
    fields: [...parseFieldFormats(body['fields'], 'fields'), ...parseFieldFormats(body['docvalue_fields'], 'docvalue_fields')],
    trackTotalHits: parseTrackTotalHits(body['track_total_hits']),
    isTotalGiven: body['track_total_hits'] !== undefined,
    trackScores: body['track_scores'] !== undefined && readBoolean(body['track_scores'], 'track_scores'),
    ...(highlight !== undefined && { highlight }),
    aggregations: aggregations.below,
    summaries: aggregations.summaries,
    ...(timeoutMs !== undefined && timeoutMs >= 0 && { timeoutMs }),
    ...(terminateAfter !== undefined && { terminateAfter }),
    ...(body['pit'] !== undefined && { pointInTime: parsePointInTime(body['pit']) }),
    showId: !(Array.isArray(body['stored_fields']) ? body['stored_fields'] : [body['stored_fields']]).includes('_none_'),
    showVersion: body['version'] !== undefined && readBoolean(body['version'], 'version'),
    showSeqNo: body['seq_no_primary_term'] !== undefined && readBoolean(body['seq_no_primary_term'], 'seq_no_primary_term'),
  }
}

/** Stored fields are shown in place of the document. No field is stored here, but for the document itself. */
function sourceBeside(storedFields: unknown): boolean | undefined {
  if (storedFields === undefined) return undefined
  const names = readStrings(storedFields, 'stored_fields')
  const other = names.find(name => !['*', '_none_', '_source', '_id', '_routing'].includes(name))
  if (other !== undefined) throw unsupported(`[stored_fields] with the field [${other}]`)
  return names.includes('_source')
}

function parsePointInTime(value: unknown): PointInTime {
  const content = readObject(value, 'pit')
  for (const key of Object.keys(content))
    if (key !== 'id' && key !== 'keep_alive') throw new ApiError(400, 'x_content_parse_exception', `[pit] unknown field [${key}]`)
  if (content['id'] === undefined) throw illegalArgument('point int time id is not provided')
  const id = readString(content['id'], 'pit.id')
  return { id, ...(content['keep_alive'] !== undefined && { keepAliveMs: parseDurationMs(content['keep_alive'], 'keep_alive') }) }
}

function parseWindow(body: JsonObject): { from: number; size: number } {
  const from = body['from'] === undefined ? 0 : readInteger(body['from'], 'from', Number.MIN_SAFE_INTEGER)
  const size = body['size'] === undefined ? 10 : readInteger(body['size'], 'size', Number.MIN_SAFE_INTEGER)
  if (from < 0) throw illegalArgument(`[from] parameter cannot be negative, found [${from}]`)
  if (size < 0) throw illegalArgument(`[size] parameter cannot be negative, found [${size}]`)
  if (body['search_after'] !== undefined && from > 0)
    throw validationError('`from` parameter must be set to 0 when `search_after` is used.')
  if (from + size > MAX_RESULT_WINDOW)
    throw refusedByShards(
      `Result window is too large, from + size must be less than or equal to: [${MAX_RESULT_WINDOW}] but was [${from + size}]. ` +
        'See the scroll api for a more efficient way to request large data sets. ' +
        'This limit can be set by changing the [index.max_result_window] index level setting.',
    )
  return { from, size }
}

/** The total that is asked for where none is. */
export const NOT_COUNTED = -1

function parseTrackTotalHits(value: unknown): number {
  if (value === undefined) return DEFAULT_TRACK_TOTAL_HITS
  if (value === true || value === 'true') return Number.POSITIVE_INFINITY
  if (value === false || value === 'false') return NOT_COUNTED
  const limit = readInteger(value, 'track_total_hits', Number.MIN_SAFE_INTEGER)
  if (limit < -1) throw illegalArgument(`[track_total_hits] parameter must be positive or equals to -1, got ${limit}`)
  return limit
}

/** Undefined: no end. */
export function parseTerminateAfter(value: unknown): number | undefined {
  if (value === undefined) return undefined
  const limit = readInteger(value, 'terminate_after', Number.MIN_SAFE_INTEGER)
  if (limit < 0) throw illegalArgument('terminateAfter must be > 0')
  return limit === 0 ? undefined : limit
}

/** The body of `_count` and of the by-query calls: a query alone. */
export function parseQueryBody(body: JsonObject, where: string, known: readonly string[] = []): Query {
  for (const key of Object.keys(body))
    if (key !== 'query' && !known.includes(key)) throw parsingError(`request does not support [${key}] in [${where}]`)
  return body['query'] === undefined ? MATCH_ALL : parseSearchQuery(readObject(body['query'], 'query'))
}
