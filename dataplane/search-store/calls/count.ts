/** `_count` and `_validate/query`. */
import { ApiError } from '../api-error.ts'
import { ok, type Reply } from '../http/answer/reply.ts'
import { booleanParameter, resolveOptions } from '../http/request/index-parameters.ts'
import { readJsonObject } from '../http/request/request-body.ts'
import { shardCounts } from '../http/search/search-response.ts'
import type { Query } from '../query/parse/query.ts'
import { parseQueryBody, parseTerminateAfter } from '../query/parse/search-request.ts'
import { countMatches } from '../query/run/all-matches.ts'
import type { SearchTarget } from '../query/run/search-target.ts'
import type { QueryCall, QueryContext } from './query-call.ts'
import { queryOfParameters } from './query-parameters.ts'

function queryOf({ parameters, body }: QueryCall, what: string): Query {
  return queryOfParameters(parameters) ?? parseQueryBody(readJsonObject(body, parameters), what)
}

function targetsOf({ index, parameters }: QueryCall, context: QueryContext): Promise<readonly SearchTarget[]> {
  return context.resolve(index ?? '_all', resolveOptions(parameters))
}

export async function count(call: QueryCall, context: QueryContext): Promise<Reply> {
  const query = queryOf(call, 'count')
  const targets = await targetsOf(call, context)
  const most = parseTerminateAfter(call.parameters.get('terminate_after') ?? undefined)
  const { count: value, isMore, failures } = await countMatches(targets, query, context, most)
  return ok({ count: value, ...(most !== undefined && { terminated_early: isMore }), _shards: shardCounts(targets.length, failures) })
}

export async function validateQuery(call: QueryCall, context: QueryContext): Promise<Reply> {
  const shards = { total: 1, successful: 1, failed: 0 }
  try {
    const query = queryOf(call, 'validate query')
    const { failures } = await countMatches(await targetsOf(call, context), query, context)
    const first = failures[0]
    if (first === undefined) return ok({ _shards: shards, valid: true })
    return ok({
      _shards: shards,
      valid: false,
      explanations: [{ index: first.index, valid: false, error: String(first.reason['reason']) }],
    })
  } catch (error) {
    if (error instanceof ApiError && error.status === 400)
      return ok({
        _shards: shards,
        valid: false,
        ...(booleanParameter(call.parameters, 'explain') && { error: `${error.type}: ${error.message}` }),
      })
    throw error
  }
}
