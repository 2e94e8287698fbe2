/** `_delete_by_query`. */
import { illegalArgument, unsupported, validationError } from '../api-error.ts'
import type { MatchBatch, MatchTotal } from '../calls/list-matches.ts'
import type { QueryAnswer } from '../calls/query-call.ts'
import { readInteger, words } from '../json/json-reader.ts'
import { textOf } from '../json/text-of.ts'
import type { WriteOp } from '../storage/index-storage.ts'
import { booleanParameter, INDEX_PARAMETERS, NODE_PARAMETERS, tookSince } from './index-parameters.ts'
import { queryCallOf } from './query-route.ts'
import type { Reply } from './reply.ts'
import { type Call, type Route, routes } from './route.ts'

const PARAMETERS = [
  ...INDEX_PARAMETERS,
  ...NODE_PARAMETERS,
  ...words(`
  q conflicts refresh scroll_size scroll max_docs wait_for_completion requests_per_second slices search_timeout request_cache
  search_type
`),
]

export const BY_QUERY_ROUTES: readonly Route[] = [
  ...routes(['POST'], ['/:index/_delete_by_query'], PARAMETERS, deleteByQuery),
  ...routes(['POST'], ['/:index/_update_by_query'], [...PARAMETERS, 'pipeline'], () => {
    throw unsupported('_update_by_query')
  }),
]

/** As in OpenSearch a client that goes away does not end it. */
const NEVER = new AbortController().signal

/** Deletes what matched when it began; a document that changed meanwhile is a conflict. */
async function deleteByQuery(call: Call): Promise<Reply> {
  const startMs = performance.now()
  if (!booleanParameter(call.query, 'wait_for_completion', true)) throw unsupported('parameter [wait_for_completion] false')
  const body = call.json()
  if (body['query'] === undefined && call.query.get('q') === null) throw validationError('query is missing')
  const conflictsMode = call.query.get('conflicts') ?? body['conflicts'] ?? 'abort'
  if (conflictsMode !== 'abort' && conflictsMode !== 'proceed')
    throw illegalArgument(`conflicts may only be "proceed" or "abort" but was [${textOf(conflictsMode)}]`)
  const limit = readInteger(call.query.get('max_docs') ?? body['max_docs'] ?? Number.MAX_SAFE_INTEGER, 'max_docs', 1)
  const matches = readMatches(await call.deps.queries.run(queryCallOf(call, 'matches'), NEVER))
  const { total: found } = (await matches.next()).value as MatchTotal
  const total = Math.min(found, limit)

  const failures: unknown[] = []
  let deleted = 0
  let conflicts = 0
  let batches = 0
  let left = total
  const storages = new Map(call.deps.catalog.indices.map(({ storage }) => [storage.uuid, storage]))
  for await (const { uuid, ids, seqNos } of matches as AsyncGenerator<MatchBatch>) {
    const storage = storages.get(uuid)
    const ops = ids.slice(0, left).map((id, at): WriteOp => ({ action: 'delete', id, ifSeqNo: seqNos[at]!, ifPrimaryTerm: 1 }))
    left -= ops.length
    // An index that was deleted meanwhile has taken its documents along.
    if (storage !== undefined) {
      batches++
      for (const [place, outcome] of (await storage.apply(ops)).entries()) {
        if (!('error' in outcome)) deleted += outcome.result === 'deleted' ? 1 : 0
        else if (outcome.error.status === 409) {
          conflicts++
          if (conflictsMode === 'abort') failures.push({ index: storage.name, id: ops[place]!.id, cause: outcome.error, status: 409 })
        } else failures.push({ index: storage.name, id: ops[place]!.id, cause: outcome.error, status: outcome.error.status })
      }
    }
    if (left === 0 || (conflictsMode === 'abort' && conflicts > 0)) break
  }
  return {
    status: failures.length === 0 ? 200 : 409,
    body: {
      took: tookSince(startMs),
      timed_out: false,
      total,
      deleted,
      batches,
      version_conflicts: conflicts,
      noops: 0,
      retries: { bulk: 0, search: 0 },
      throttled_millis: 0,
      requests_per_second: -1,
      throttled_until_millis: 0,
      failures,
    },
  }
}

async function* readMatches({ pieces }: QueryAnswer): AsyncGenerator<MatchTotal | MatchBatch, void, undefined> {
  for await (const piece of pieces) yield JSON.parse(Buffer.from(piece).toString()) as MatchTotal | MatchBatch
}
