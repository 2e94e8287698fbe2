/** `_search`, `_msearch`, `_count`, `_validate/query`. */
import { ApiError } from '../../api-error.ts'
import { mayNamePointInTime } from '../../calls/query-call.ts'
import type { CatalogIndex } from '../../catalog/catalog.ts'
import { words } from '../../json/json-reader.ts'
import { ok, type Reply } from '../answer/reply.ts'
import { queryRoute } from '../query-route.ts'
import { countAll, INDEX_PARAMETERS, NODE_PARAMETERS, resolveIndices } from '../request/index-parameters.ts'
import { type Call, type Route, routes } from '../route.ts'
import { openScroll } from './lasting-search-routes.ts'
import { shardCounts } from './search-response.ts'

const QUERY_PARAMETERS = ['q', 'df', 'default_operator', 'lenient', 'analyzer', 'analyze_wildcard'] as const

const SEARCH_PARAMETERS = [
  ...QUERY_PARAMETERS,
  ...INDEX_PARAMETERS,
  ...NODE_PARAMETERS,
  ...words(`
  from size sort _source _source_includes _source_excludes track_total_hits track_scores version seq_no_primary_term terminate_after
  rest_total_hits_as_int request_cache search_type batched_reduce_size ccs_minimize_roundtrips max_concurrent_shard_requests
  pre_filter_shard_size allow_partial_search_results typed_keys phase_took cancel_after_time_interval
`),
]

const COUNT_PARAMETERS = [...QUERY_PARAMETERS, ...INDEX_PARAMETERS, ...NODE_PARAMETERS, 'terminate_after']
const VALIDATE_PARAMETERS = [...QUERY_PARAMETERS, ...INDEX_PARAMETERS, 'explain', 'all_shards', 'rewrite']

export const SEARCH_ROUTES: readonly Route[] = [
  ...routes(['GET', 'POST'], ['/_search', '/:index/_search'], [...SEARCH_PARAMETERS, 'scroll'], call =>
    call.query.has('scroll') ? openScroll(call) : runSearch(call),
  ),
  ...routes(
    ['GET', 'POST'],
    ['/_msearch', '/:index/_msearch'],
    [...SEARCH_PARAMETERS, 'max_concurrent_searches'],
    queryRoute('multiSearch'),
  ),
  ...routes(['GET', 'POST'], ['/_count', '/:index/_count'], COUNT_PARAMETERS, count),
  ...routes(['GET', 'POST'], ['/_validate/query', '/:index/_validate/query'], VALIDATE_PARAMETERS, queryRoute('validate')),
]

/** A count of everything takes no query, but its caller may search next. */
async function count(call: Call): Promise<Reply> {
  call.deps.queries.expectUser?.()
  const isPlain = call.body.length === 0 && !['q', 'source', 'terminate_after'].some(name => call.query.has(name))
  const all = isPlain ? countAll(call) : undefined
  return all === undefined ? runCount(call) : ok({ count: all, _shards: shardCounts(resolveIndices(call).length, []) })
}

const runQuery = queryRoute('search')

/** Counts the search on each of its indices. */
async function runSearch(call: Call): Promise<Reply> {
  const startMs = performance.now()
  const reply = await runQuery(call)
  const ms = performance.now() - startMs
  for (const { counts } of searchedIn(call)) {
    counts.queries++
    counts.queryMs += ms
  }
  return reply
}

/** None where one was deleted meanwhile, or a point in time was searched. */
function searchedIn(call: Call): readonly CatalogIndex[] {
  if (mayNamePointInTime({ index: call.path['index'], body: call.body })) return []
  try {
    return resolveIndices(call).map(({ index }) => index)
  } catch (error) {
    if (error instanceof ApiError) return []
    throw error
  }
}

const runCount = queryRoute('count')
