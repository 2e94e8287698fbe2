/** `_search`, `_msearch`, `_count`, `_validate/query`. */
import { ApiError, parsingError, unsupported } from '../api-error.ts'
import { countMatches } from '../query/all-matches.ts'
import { executeSearch } from '../query/execute.ts'
import { isObject, type JsonObject, kindOf } from '../query/json-reader.ts'
import { MATCH_ALL, type Query } from '../query/query.ts'
import { openQueryMemory, type QueryMemory } from '../query/query-memory.ts'
import { parseQueryString } from '../query/query-string.ts'
import { parseQueryBody, parseSearchRequest, type SearchRequest } from '../query/search-request.ts'
import { parseSortParameter } from '../query/sort-spec.ts'
import { sourceFilterOfParameters } from '../query/source-filter.ts'
import { Turns } from '../turns.ts'
import { booleanParameter, INDEX_PARAMETERS, NODE_PARAMETERS, resolveIndices, searchTargets, tookSince } from './index-parameters.ts'
import { ok, type Reply } from './reply.ts'
import { parseJsonBody } from './request-body.ts'
import type { Call, Route } from './route.ts'
import { searchJson, shardCounts, topHit } from './search-response.ts'

const QUERY_PARAMETERS = ['q', 'df', 'default_operator', 'lenient', 'analyzer', 'analyze_wildcard'] as const

const SEARCH_PARAMETERS = [
  ...QUERY_PARAMETERS,
  ...INDEX_PARAMETERS,
  ...NODE_PARAMETERS,
  'from',
  'size',
  'sort',
  '_source',
  '_source_includes',
  '_source_excludes',
  'track_total_hits',
  'track_scores',
  'version',
  'seq_no_primary_term',
  'rest_total_hits_as_int',
  'request_cache',
  'search_type',
  'batched_reduce_size',
  'ccs_minimize_roundtrips',
  'max_concurrent_shard_requests',
  'pre_filter_shard_size',
  'allow_partial_search_results',
  'typed_keys',
  'phase_took',
  'cancel_after_time_interval',
] as const

export const SEARCH_ROUTES: readonly Route[] = [
  { methods: ['GET', 'POST'], pattern: '/_search', body: 'query', parameters: SEARCH_PARAMETERS, handle: search },
  { methods: ['GET', 'POST'], pattern: '/{index}/_search', body: 'query', parameters: SEARCH_PARAMETERS, handle: search },
  { methods: ['GET', 'POST'], pattern: '/_msearch', body: 'query', parameters: SEARCH_PARAMETERS, handle: multiSearch },
  { methods: ['GET', 'POST'], pattern: '/{index}/_msearch', body: 'query', parameters: SEARCH_PARAMETERS, handle: multiSearch },
  ...['/_count', '/{index}/_count'].map(
    (pattern): Route => ({
      methods: ['GET', 'POST'],
      pattern,
      body: 'query',
      parameters: [...QUERY_PARAMETERS, ...INDEX_PARAMETERS, ...NODE_PARAMETERS],
      handle: count,
    }),
  ),
  ...['/_validate/query', '/{index}/_validate/query'].map(
    (pattern): Route => ({
      methods: ['GET', 'POST'],
      pattern,
      body: 'query',
      parameters: [...QUERY_PARAMETERS, ...INDEX_PARAMETERS, 'explain', 'all_shards', 'rewrite'],
      handle: validate,
    }),
  ),
]

/** The query of the parameter `q`. */
function queryOfParameters(query: URLSearchParams): Query | undefined {
  const text = query.get('q')
  if (text === null) return undefined
  const operator = (query.get('default_operator') ?? 'or').toLowerCase()
  if (operator !== 'and' && operator !== 'or')
    throw new ApiError(400, 'illegal_argument_exception', `Unsupported defaultOperator [${operator}], can either be [OR] or [AND]`)
  const analyzer = query.get('analyzer')
  if (analyzer !== null && analyzer !== 'standard') throw unsupported(`analyzer [${analyzer}]`)
  const field = query.get('df')
  return parseQueryString(text, {
    fields: [{ pattern: field ?? '*', boost: 1 }],
    operator,
    lenient: booleanParameter(query, 'lenient', field === null || field === '*'),
    phraseSlop: 0,
    boost: 1,
  })
}

/** Parameters that say the same as members of the body; parameters win. */
const BODY_PARAMETERS = ['from', 'size', 'track_total_hits', 'track_scores', 'version', 'seq_no_primary_term', 'timeout'] as const

function searchRequest(call: Call): SearchRequest {
  const { query } = call
  const body: Record<string, unknown> = { ...call.json() }
  for (const name of BODY_PARAMETERS) if (query.has(name)) body[name] = query.get(name)
  if (query.has('typed_keys') && booleanParameter(query, 'typed_keys')) throw unsupported('parameter [typed_keys]')
  const type = query.get('search_type')
  if (type !== null && type !== 'query_then_fetch' && type !== 'dfs_query_then_fetch') throw unsupported(`search_type [${type}]`)
  const asInt = booleanParameter(query, 'rest_total_hits_as_int')
  if (asInt && body['track_total_hits'] === undefined) body['track_total_hits'] = true
  const request = parseSearchRequest(body)
  const source = sourceFilterOfParameters(query)
  const sort = query.get('sort')
  const own = queryOfParameters(query)
  return {
    ...request,
    ...(own !== undefined && { query: own }),
    ...(source !== undefined && { source }),
    ...(sort !== null && { sort: parseSortParameter(sort) }),
  }
}

async function search(call: Call): Promise<Reply> {
  const memory = openQueryMemory()
  try {
    return { status: 200, json: await searchText(call, memory) }
  } finally {
    memory.release()
  }
}

async function searchText(call: Call, memory: QueryMemory): Promise<string> {
  const startMs = performance.now()
  const request = searchRequest(call)
  const targets = searchTargets(resolveIndices(call))
  const { clock } = call.deps
  const outcome = await executeSearch(targets, request, { clock, memory, showTopHit: topHit })
  const totalAsInt = booleanParameter(call.query, 'rest_total_hits_as_int')
  return searchJson(request, outcome, { tookMs: tookSince(startMs), indexCount: targets.length, totalAsInt, memory })
}

const MAX_SEARCHES = 100

/** Pairs of lines: where to search, what for. One that fails says so in its own place. */
async function multiSearch(call: Call): Promise<Reply> {
  const startMs = performance.now()
  const lines = call.body
    .toString('utf8')
    .split('\n')
    .map(line => line.trim())
  if (lines.at(-1) === '') lines.pop()
  if (lines.length % 2 !== 0) throw parsingError('a multi search must hold pairs of lines, header and body')
  if (lines.length / 2 > MAX_SEARCHES) throw parsingError(`a multi search may hold at most ${MAX_SEARCHES} searches`)
  const memory = openQueryMemory()
  try {
    const responses: string[] = []
    const turns = new Turns()
    for (let at = 0; at < lines.length; at += 2) {
      responses.push(await oneOfMany(call, lines[at]!, lines[at + 1]!, memory))
      // Short ones do not take turns of their own.
      if (turns.isDue()) await turns.next()
    }
    return { status: 200, json: `{"took":${tookSince(startMs)},"responses":[${responses.join(',')}]}` }
  } finally {
    memory.release()
  }
}

/** Keeps only the memory of its text when it is done. */
async function oneOfMany(call: Call, header: string, body: string, memory: QueryMemory): Promise<string> {
  const before = memory.usedBytes
  const keep = (text: string): string => {
    memory.giveBack(memory.usedBytes - before)
    memory.charge(2 * text.length, 'fewer searches, or fewer hits of each')
    return text
  }
  try {
    const { index, ...options } = lineObject(header)
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(options)) query.set(name, String(value))
    const expression = Array.isArray(index) ? index.join(',') : typeof index === 'string' ? index : call.path['index']
    const path: Record<string, string> = expression === undefined ? {} : { index: expression }
    const text = await searchText({ ...call, query, path, json: () => lineObject(body) }, memory)
    return keep(`${text.slice(0, -1)},"status":200}`)
  } catch (error) {
    if (error instanceof ApiError) return keep(JSON.stringify(error.toBody()))
    throw error
  }
}

function lineObject(line: string): JsonObject {
  const value = line === '' ? {} : parseJsonBody(Buffer.from(line))
  if (isObject(value)) return value
  throw parsingError(`a line of a multi search must be a JSON object, found ${kindOf(value)}`)
}

async function count(call: Call): Promise<Reply> {
  const query = queryOfParameters(call.query) ?? parseQueryBody(call.json(), 'count')
  const targets = searchTargets(resolveIndices(call))
  const { count: value, failures } = await countMatches(targets, query, call.deps.clock)
  return ok({ count: value, _shards: shardCounts(targets.length, failures) })
}

async function validate(call: Call): Promise<Reply> {
  const shards = { total: 1, successful: 1, failed: 0 }
  try {
    const query = queryOfParameters(call.query) ?? parseQueryBody(call.json(), 'validate query')
    const targets = searchTargets(resolveIndices(call))
    const { failures } = await countMatches(targets, query === undefined ? MATCH_ALL : query, call.deps.clock)
    const first = failures[0]
    if (first === undefined) return ok({ _shards: shards, valid: true })
    return ok({
      _shards: shards,
      valid: false,
      explanations: [{ index: first.index, valid: false, error: String(first.reason['reason']) }],
    })
  } catch (error) {
    if (error instanceof ApiError && error.status === 400)
      return ok({ _shards: shards, valid: false, error: `${error.type}: ${error.message}` })
    throw error
  }
}
