/** Refusals, in OpenSearch's words, of parts that a search by a scroll or on a point in time may not have. */
import { illegalArgument, unsupported, validationError } from '../api-error.ts'
import { INDEX_PARAMETERS } from '../http/request/index-parameters.ts'
import type { SearchRequest } from '../query/parse/search-request.ts'
import type { QueryCall } from './query-call.ts'

export function checkPointInTime({ index, parameters }: Pick<QueryCall, 'index' | 'parameters'>, request: SearchRequest): void {
  const isOfPointInTime = request.pointInTime !== undefined
  const refused = isOfPointInTime
    ? [
        index !== undefined && '[indices] cannot be used with point in time',
        INDEX_PARAMETERS.some(name => parameters.has(name)) && '[indicesOptions] cannot be used with point in time',
        parameters.has('routing') && '[routing] cannot be used with point in time',
        parameters.has('preference') && '[preference] cannot be used with point in time',
      ]
    : [
        request.sort.some(({ field }) => field === '_shard_doc') &&
          '_shard_doc is only supported with point-in-time (PIT). Add a PIT or remove _shard_doc.',
      ]
  refuse(refused)
}

/** Refuses a search that cannot begin a scroll. */
export function checkScroll(parameters: URLSearchParams, request: SearchRequest): void {
  refuse([
    request.trackTotalHits !== Number.POSITIVE_INFINITY &&
      request.isTotalGiven &&
      'disabling [track_total_hits] is not allowed in a scroll context',
    request.from > 0 && 'using [from] is not allowed in a scroll context',
    request.size === 0 && '[size] cannot be [0] in a scroll context',
    parameters.get('request_cache') === 'true' && '[request_cache] cannot be used in a scroll context',
    request.pointInTime !== undefined && 'using [point in time] is not allowed in a scroll context',
  ])
  if (request.terminateAfter !== undefined) throw unsupported('[terminate_after] of a scroll')
  if (request.searchAfter !== undefined) throw illegalArgument('`search_after` cannot be used in a scroll context.')
}

function refuse(reasons: readonly (string | false)[]): void {
  const given = reasons.filter(reason => reason !== false)
  if (given.length > 0) throw validationError(...given)
}
