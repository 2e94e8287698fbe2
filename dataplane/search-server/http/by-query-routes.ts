/** `_delete_by_query`. */
import { ApiError, unsupported, validationError } from '../api-error.ts'
import { matchingDocuments } from '../query/all-matches.ts'
import { readInteger } from '../query/json-reader.ts'
import { parseQueryString } from '../query/query-string.ts'
import { parseQueryBody } from '../query/search-request.ts'
import type { Segment, WriteOp } from '../storage/index-storage.ts'
import { booleanParameter, INDEX_PARAMETERS, NODE_PARAMETERS, resolveIndices, searchTargets, tookSince } from './index-parameters.ts'
import type { Reply } from './reply.ts'
import type { Call, Route } from './route.ts'

const PARAMETERS = [
  ...INDEX_PARAMETERS,
  ...NODE_PARAMETERS,
  'q',
  'conflicts',
  'refresh',
  'scroll_size',
  'scroll',
  'max_docs',
  'wait_for_completion',
  'requests_per_second',
  'slices',
  'search_timeout',
  'request_cache',
  'search_type',
]

export const BY_QUERY_ROUTES: readonly Route[] = [
  { methods: ['POST'], pattern: '/{index}/_delete_by_query', body: 'query', parameters: PARAMETERS, handle: deleteByQuery },
  {
    methods: ['POST'],
    pattern: '/{index}/_update_by_query',
    body: 'query',
    parameters: [...PARAMETERS, 'pipeline'],
    handle: () => {
      throw unsupported('_update_by_query')
    },
  },
]

const BATCH = 1000

/** Of the document as it was found. */
function deletionOf(segment: Segment, doc: number): WriteOp {
  return { action: 'delete', id: segment.id(doc), ifSeqNo: segment.seqNo(doc), ifPrimaryTerm: 1 }
}

/** Deletes what matched when it began; a document that changed meanwhile is a conflict. */
async function deleteByQuery(call: Call): Promise<Reply> {
  const startMs = performance.now()
  if (!booleanParameter(call.query, 'wait_for_completion', true)) throw unsupported('parameter [wait_for_completion] false')
  const body = call.json()
  const q = call.query.get('q')
  if (body['query'] === undefined && q === null) throw validationError('query is missing')
  const query =
    q === null
      ? parseQueryBody(body, 'delete by query', ['max_docs', 'conflicts'])
      : parseQueryString(q, { fields: [{ pattern: '*', boost: 1 }], operator: 'or', lenient: true, phraseSlop: 0, boost: 1 })
  const conflictsMode = call.query.get('conflicts') ?? body['conflicts'] ?? 'abort'
  if (conflictsMode !== 'abort' && conflictsMode !== 'proceed')
    throw new ApiError(400, 'illegal_argument_exception', `conflicts may only be "proceed" or "abort" but was [${String(conflictsMode)}]`)
  const limit = readInteger(call.query.get('max_docs') ?? body['max_docs'] ?? Number.MAX_SAFE_INTEGER, 'max_docs', 1)
  const found = await matchingDocuments(searchTargets(resolveIndices(call)), query, call.deps.clock)

  const failures: unknown[] = []
  let total = 0
  let deleted = 0
  let conflicts = 0
  let batches = 0
  for (const { storage, segment, docs } of found) {
    const wanted = docs.subarray(0, limit - total)
    total += wanted.length
    for (let at = 0; at < wanted.length && (conflictsMode === 'proceed' || conflicts === 0); at += BATCH) {
      batches++
      const ops = Array.from(wanted.subarray(at, at + BATCH), (doc): WriteOp => deletionOf(segment, doc))
      for (const [place, outcome] of (await storage.apply(ops)).entries()) {
        if (!('error' in outcome)) deleted += outcome.result === 'deleted' ? 1 : 0
        else if (outcome.error.status === 409) {
          conflicts++
          if (conflictsMode === 'abort') failures.push({ index: storage.name, id: ops[place]!.id, cause: outcome.error, status: 409 })
        } else failures.push({ index: storage.name, id: ops[place]!.id, cause: outcome.error, status: outcome.error.status })
      }
    }
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
