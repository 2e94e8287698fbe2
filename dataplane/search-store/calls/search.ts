/** `_search` and `_msearch`. */
import { isJsonObject } from '../../json/is-json-object.ts'
import { ApiError, illegalArgument, parsingError, unsupported } from '../api-error.ts'
import type { Reply } from '../http/answer/reply.ts'
import { booleanParameter, resolveOptions, tookSince } from '../http/request/index-parameters.ts'
import { parseJsonBody, readJsonObject } from '../http/request/request-body.ts'
import { searchJson, topHit } from '../http/search/search-response.ts'
import { type JsonObject, kindOf, words } from '../json/json-reader.ts'
import { textOf } from '../json/text-of.ts'
import { createPace } from '../query/budget/pace.ts'
import { NOT_COUNTED, parseSearchRequest, type SearchRequest } from '../query/parse/search-request.ts'
import { parseSortParameter } from '../query/parse/sort-spec.ts'
import { executeSearch } from '../query/run/execute.ts'
import { decodeCursor, encodeCursor, type HitPlace } from '../query/run/hit-place.ts'
import type { SearchOutcome } from '../query/run/search.ts'
import { allShardsRefused, type SearchTarget, someShardsFailed } from '../query/run/search-target.ts'
import { placeOf } from '../query/run/top-documents.ts'
import { sourceFilterOfParameters } from '../query/show/source-filter.ts'
import { checkPointInTime, checkScroll } from './lasting-search.ts'
import type { QueryCall, QueryContext, ScrollPage } from './query-call.ts'
import { queryOfParameters } from './query-parameters.ts'

/** Parameters that say the same as members of the body; parameters win. */
const BODY_PARAMETERS = [
  'from',
  'size',
  'track_total_hits',
  'track_scores',
  'version',
  'seq_no_primary_term',
  'timeout',
  'terminate_after',
] as const

function searchRequest(query: URLSearchParams, json: JsonObject): SearchRequest {
  const body: Record<string, unknown> = { ...json }
  for (const name of BODY_PARAMETERS) if (query.has(name)) body[name] = query.get(name)
  const type = query.get('search_type')
  if (type !== null && type !== 'query_then_fetch' && type !== 'dfs_query_then_fetch') throw unsupported(`search_type [${type}]`)
  const asInt = booleanParameter(query, 'rest_total_hits_as_int')
  if (asInt && body['track_total_hits'] === undefined) body['track_total_hits'] = true
  if (asInt && Number(textOf(body['track_total_hits'])) < -1)
    throw illegalArgument(`[track_total_hits] parameter must be positive or equals to -1, got ${textOf(body['track_total_hits'])}`)
  if (asInt && !['true', 'false', '-1'].includes(textOf(body['track_total_hits'])))
    throw illegalArgument(
      `[rest_total_hits_as_int] cannot be used if the tracking of total hits is not accurate, got ${textOf(body['track_total_hits'])}`,
    )
  checkPhases(query)
  const request = parsedOnShards(() => parseSearchRequest(body))
  const source = sourceFilterOfParameters(query)
  const sort = query.get('sort')
  const own = parsedOnShards(() => queryOfParameters(query))
  return {
    ...request,
    ...(own !== undefined && { query: own }),
    ...(source !== undefined && { source }),
    ...(sort !== null && { sort: parseSortParameter(sort) }),
  }
}

/** Texts of queries are parsed once here, and by each shard in OpenSearch: all of them refuse one that is malformed. */
function parsedOnShards<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof ApiError && (error.type === 'query_shard_exception' || error.options.ofShards))) throw error
    throw allShardsRefused(error)
  }
}

/** Bounds of parameters that one shard of one node has no use for. */
const PHASES = [
  { name: 'batched_reduce_size', says: 'batchedReduceSize', min: 2 },
  { name: 'pre_filter_shard_size', says: 'preFilterShardSize', min: 1 },
] as const

function checkPhases(query: URLSearchParams): void {
  for (const { name, says, min } of PHASES)
    if (query.has(name) && !(Number(query.get(name)) >= min)) throw illegalArgument(`${says} must be >= ${min}`)
}

export async function search({ index, parameters, body, page }: QueryCall, context: QueryContext): Promise<Reply> {
  const request = searchRequest(parameters, readJsonObject(body, parameters))
  if (page !== undefined) return searchPage({ index, parameters }, request, page, context)
  return { status: 200, json: await searchText({ index, parameters }, request, context) }
}

type Asked = Pick<QueryCall, 'index' | 'parameters'>

async function targetsOf({ index, parameters }: Asked, request: SearchRequest, context: QueryContext): Promise<readonly SearchTarget[]> {
  const { pointInTime } = request
  checkPointInTime({ index, parameters }, request)
  return pointInTime === undefined ? context.resolve(index ?? '_all', resolveOptions(parameters)) : context.resolvePointInTime(pointInTime)
}

async function searchText(asked: Asked, request: SearchRequest, context: QueryContext): Promise<string> {
  const startMs = performance.now()
  const targets = await targetsOf(asked, request, context)
  const outcome = await executeSearch(targets, request, { ...context, showTopHit: topHit })
  checkWhole(asked.parameters, outcome)
  return searchJson(request, outcome, {
    ...{ tookMs: tookSince(startMs), indexCount: targets.length, totalAsInt: booleanParameter(asked.parameters, 'rest_total_hits_as_int') },
    ...{ typedKeys: booleanParameter(asked.parameters, 'typed_keys'), nowMs: context.clock.nowMs() },
    ...{ memory: context.memory, name: request.pointInTime === undefined ? {} : { pit_id: request.pointInTime.id } },
  })
}

/** `allow_partial_search_results=false`: all or nothing. */
function checkWhole(parameters: URLSearchParams, { failures, timedOut }: SearchOutcome): void {
  if (booleanParameter(parameters, 'allow_partial_search_results', true)) return
  if (failures.length > 0) throw someShardsFailed(failures)
  if (timedOut) throw new ApiError(503, 'search_phase_execution_exception', 'the time of the request was over before all was found')
}

/** Throws 503 where the time is over before the page is: the next one would leave hits out. */
async function searchPage(asked: Asked, asGiven: SearchRequest, { id, cursor }: ScrollPage, context: QueryContext): Promise<Reply> {
  const startMs = performance.now()
  const last = cursor === undefined ? undefined : decodeCursor(cursor)
  const request = pageRequest(asGiven, last !== undefined)
  if (last === undefined) checkScroll(asked.parameters, asGiven)
  const targets = await targetsOf(asked, request, context)
  const outcome = await executeSearch(targets, request, { ...context, behind: last?.place, showTopHit: topHit })
  if (outcome.timedOut)
    throw new ApiError(503, 'search_phase_execution_exception', 'the time of the request was over before its page was found')
  const total = last?.total ?? outcome.total?.value ?? 0
  const maxScore = last === undefined ? outcome.maxScore : last.maxScore
  const end = outcome.hits.at(-1)
  const place = end === undefined ? last?.place : placeOf(end)
  const shown = { ...outcome, maxScore, total: { value: total, relation: 'eq' as const } }
  const json = await searchJson(request, shown, {
    ...{ tookMs: tookSince(startMs), indexCount: targets.length, totalAsInt: booleanParameter(asked.parameters, 'rest_total_hits_as_int') },
    ...{ typedKeys: booleanParameter(asked.parameters, 'typed_keys'), nowMs: context.clock.nowMs() },
    ...{ memory: context.memory, name: id === undefined ? {} : { _scroll_id: id } },
  })
  return { status: 200, json, cursor: encodeCursor({ place: place ?? NOTHING, total, maxScore }) }
}

/** Where nothing was found, nothing comes later. */
const NOTHING: HitPlace = { values: [], ordinal: 0, doc: 0 }

/** Aggregations are answered once. */
function pageRequest(request: SearchRequest, isContinued: boolean): SearchRequest {
  return isContinued
    ? { ...request, aggregations: [], trackTotalHits: NOT_COUNTED }
    : { ...request, trackTotalHits: Number.POSITIVE_INFINITY }
}

const MAX_SEARCHES = 100
/** Parameters of the whole that each of its searches has. */
const OF_ALL_SEARCHES = [
  'typed_keys',
  'rest_total_hits_as_int',
  'search_type',
  'ignore_unavailable',
  'allow_no_indices',
  'expand_wildcards',
]

/** Pairs of lines: where to search, what for. One that fails says so in its own place. */
export async function multiSearch(call: QueryCall, context: QueryContext): Promise<Reply> {
  const startMs = performance.now()
  const lines = call.body
    .toString('utf8')
    .split('\n')
    .map(line => line.trim())
  if (call.body.length === 0) throw new ApiError(400, 'parse_exception', 'request body or source parameter is required')
  if (lines.at(-1) === '') lines.pop()
  if (lines.length % 2 !== 0) throw parsingError('a multi search must hold pairs of lines, header and body')
  if (lines.length / 2 > MAX_SEARCHES) throw parsingError(`a multi search may hold at most ${MAX_SEARCHES} searches`)
  // Joined once: each further joint would be another copy of all of it.
  const parts: string[] = []
  const pace = createPace(context.clock, Number.POSITIVE_INFINITY, context.turns)
  for (let at = 0; at < lines.length; at += 2) {
    parts.push(at === 0 ? '' : ',', await oneOfMany(call, lines[at]!, lines[at + 1]!, context))
    // Short ones do not take turns of their own.
    await pace.step()
  }
  parts.unshift(`{"took":${tookSince(startMs)},"responses":[`)
  parts.push(']}')
  return { status: 200, json: parts.join('') }
}

/** Keeps only the memory of its text when it is done. */
async function oneOfMany(
  { index: defaultIndex, parameters: shared }: QueryCall,
  header: string,
  body: string,
  context: QueryContext,
): Promise<string> {
  const { memory } = context
  const before = memory.usedBytes
  const keep = (text: string): string => {
    memory.giveBack(memory.usedBytes - before)
    memory.charge(2 * text.length, 'fewer searches, or fewer hits of each')
    return text
  }
  try {
    if (context.leftMs() < 0) throw noTimeLeft()
    const { index, indices, ...options } = lineObject(header)
    const parameters = new URLSearchParams()
    for (const name of OF_ALL_SEARCHES) if (shared.has(name)) parameters.set(name, shared.get(name)!)
    for (const [name, value] of Object.entries(options)) parameters.set(searchHeader(name), textOf(value))
    const named = index ?? indices
    const expression = Array.isArray(named) ? named.join(',') : typeof named === 'string' ? named : defaultIndex
    const text = await searchText({ index: expression, parameters }, searchRequest(parameters, lineObject(body)), context)
    return keep(`${text.slice(0, -1)},"status":200}`)
  } catch (error) {
    if (error instanceof ApiError && !isOfWhole(error)) return keep(JSON.stringify(error.toBody()))
    throw error
  }
}

/** An error of the parameters that all searches have. */
const isOfWhole = ({ message }: ApiError): boolean => message.startsWith('[rest_total_hits_as_int]') || message.endsWith(NO_HEADER)

const NO_HEADER = ' is not supported in the metadata section'
/** Members of a header line beside the index, some of which have two spellings. */
const HEADERS = new Set(
  words(`
  search_type request_cache preference routing allow_partial_search_results expand_wildcards ignore_unavailable allow_no_indices ignore_throttled
  cancel_after_time_interval
`),
)

function searchHeader(given: string): string {
  const name = given.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  if (HEADERS.has(name)) return name
  throw illegalArgument(`key [${given}]${NO_HEADER}`)
}

const noTimeLeft = (): ApiError =>
  new ApiError(408, 'timeout_exception', 'the time of the request was over before this search began; send fewer searches at a time')

function lineObject(line: string): JsonObject {
  const value = line === '' ? {} : parseJsonBody(Buffer.from(line))
  if (isJsonObject(value)) return value
  throw parsingError(`a line of a multi search must be a JSON object, found ${kindOf(value)}`)
}
