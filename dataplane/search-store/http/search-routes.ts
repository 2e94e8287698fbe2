/** `_search`, `_msearch`, `_count`, `_validate/query`. */

import { countAll } from './count-all.ts'
import { INDEX_PARAMETERS, NODE_PARAMETERS, resolveIndices } from './index-parameters.ts'
import { queryRoute } from './query-route.ts'
import { ok, type Reply } from './reply.ts'
import type { Call, Route } from './route.ts'
import { shardCounts } from './search-response.ts'

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
  { methods: ['GET', 'POST'], pattern: '/_search', body: 'query', parameters: SEARCH_PARAMETERS, handle: queryRoute('search') },
  { methods: ['GET', 'POST'], pattern: '/{index}/_search', body: 'query', parameters: SEARCH_PARAMETERS, handle: queryRoute('search') },
  { methods: ['GET', 'POST'], pattern: '/_msearch', body: 'query', parameters: SEARCH_PARAMETERS, handle: queryRoute('multiSearch') },
  {
    methods: ['GET', 'POST'],
    pattern: '/{index}/_msearch',
    body: 'query',
    parameters: SEARCH_PARAMETERS,
    handle: queryRoute('multiSearch'),
  },
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
      handle: queryRoute('validate'),
    }),
  ),
]

/** Counting everything takes no query. */
async function count(call: Call): Promise<Reply> {
  const isPlain = call.body.length === 0 && !call.query.has('q') && !call.query.has('source')
  const all = isPlain ? countAll(call) : undefined
  return all === undefined ? runCount(call) : ok({ count: all, _shards: shardCounts(resolveIndices(call).length, []) })
}

const runCount = queryRoute('count')
