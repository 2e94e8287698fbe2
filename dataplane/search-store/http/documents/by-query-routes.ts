/** `_delete_by_query`, `_update_by_query`. */
import { illegalArgument, unsupported, validationError } from '../../api-error.ts'
import type { MatchBatch, MatchTotal } from '../../calls/list-matches.ts'
import type { QueryAnswer } from '../../calls/query-call.ts'
import type { CatalogIndex } from '../../catalog/catalog.ts'
import { applyTo } from '../../catalog/operation-counts.ts'
import { readInteger, words } from '../../json/json-reader.ts'
import { textOf } from '../../json/text-of.ts'
import type { WriteOp } from '../../storage/index-storage.ts'
import type { Reply } from '../answer/reply.ts'
import { queryCallOf } from '../query-route.ts'
import { booleanParameter, INDEX_PARAMETERS, NODE_PARAMETERS, tookSince } from '../request/index-parameters.ts'
import { type Call, type Route, routes } from '../route.ts'

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
  ...routes(['POST'], ['/:index/_update_by_query'], [...PARAMETERS, 'pipeline'], updateByQuery),
]

/** As in OpenSearch a client that goes away does not end it. */
const NEVER = new AbortController().signal

/** Deletes what matched when it began; a document that changed meanwhile is a conflict. */
async function deleteByQuery(call: Call): Promise<Reply> {
  if (call.json()['query'] === undefined && call.query.get('q') === null) throw validationError('query is missing')
  return byQuery(call, [], (matched, apply) =>
    apply(
      matched.index,
      matched.ids.map((_id, at) => deletionOf(matched, at)),
    ),
  )
}

/** Writes what matched once more, as it is: fields that the mapping has got since are indexed. */
async function updateByQuery(call: Call): Promise<Reply> {
  if (call.json()['script'] !== undefined) throw unsupported('_update_by_query with a [script]')
  if (call.query.has('pipeline')) throw unsupported('parameter [pipeline]')
  return byQuery(call, ['updated'], rewrite)
}

/** Documents of one index, as they were when they matched. */
interface Matched extends Pick<MatchBatch, 'ids' | 'seqNos'> {
  readonly index: CatalogIndex
}

type Apply = (index: CatalogIndex, ops: readonly WriteOp[]) => Promise<void>

const conditionOf = ({ ids, seqNos }: Matched, at: number) => ({ id: ids[at]!, ifSeqNo: seqNos[at]!, ifPrimaryTerm: 1 })
const deletionOf = (matched: Matched, at: number): WriteOp => ({ action: 'delete', ...conditionOf(matched, at) })

/** Documents that are read before they are written, about. */
const REWRITTEN_BYTES = 4 * 1024 * 1024

async function rewrite(matched: Matched, apply: Apply): Promise<void> {
  const { index, ids } = matched
  let ops: WriteOp[] = []
  let bytes = 0
  const flush = async (): Promise<void> => {
    const portion = ops
    ops = []
    bytes = 0
    if (portion.length > 0) await apply(index, portion)
  }
  const found = await index.storage.getMany(ids, async ({ source }, at) => {
    // A copy: the source may be a part of something larger.
    ops.push({ action: 'index', source: Uint8Array.from(source), ...conditionOf(matched, at) })
    bytes += source.length
    if (bytes >= REWRITTEN_BYTES) await flush()
    return true
  })
  // One that is gone is a conflict, as the condition of its deletion says.
  for (const at of ids.keys()) if (found[at] === undefined) ops.push(deletionOf(matched, at))
  await flush()
}

/** `counted`: the results that the answer tells of beside the deleted. */
async function byQuery(
  call: Call,
  counted: readonly 'updated'[],
  write: (matched: Matched, apply: Apply) => Promise<void>,
): Promise<Reply> {
  const startMs = performance.now()
  if (!booleanParameter(call.query, 'wait_for_completion', true)) throw unsupported('parameter [wait_for_completion] false')
  const body = call.json()
  const conflictsMode = call.query.get('conflicts') ?? body['conflicts'] ?? 'abort'
  if (conflictsMode !== 'abort' && conflictsMode !== 'proceed')
    throw illegalArgument(`conflicts may only be "proceed" or "abort" but was [${textOf(conflictsMode)}]`)
  const limit = readInteger(call.query.get('max_docs') ?? body['max_docs'] ?? Number.MAX_SAFE_INTEGER, 'max_docs', 1)
  const matches = readMatches(await call.deps.queries.run(queryCallOf(call, 'matches'), NEVER))
  const { total: found } = (await matches.next()).value as MatchTotal
  const total = Math.min(found, limit)

  const failures: unknown[] = []
  const counts = { created: 0, updated: 0, deleted: 0, noop: 0, not_found: 0 }
  let conflicts = 0
  let batches = 0
  let left = total
  const apply: Apply = async (index, ops) => {
    for (const [place, outcome] of (await applyTo(index, ops)).entries()) {
      if (!('error' in outcome)) counts[outcome.result]++
      else if (outcome.error.status === 409) conflicts++
      if ('error' in outcome && (outcome.error.status !== 409 || conflictsMode === 'abort'))
        failures.push({ index: index.name, id: ops[place]!.id, cause: outcome.error, status: outcome.error.status })
    }
  }
  const indices = new Map(call.deps.catalog.indices.map(index => [index.uuid, index]))
  for await (const { uuid, ids, seqNos } of matches as AsyncGenerator<MatchBatch>) {
    const index = indices.get(uuid)
    const matched = { ids: ids.slice(0, left), seqNos }
    left -= matched.ids.length
    // An index that was deleted meanwhile has taken its documents along.
    if (index !== undefined) {
      batches++
      await write({ index, ...matched }, apply)
    }
    if (left === 0 || failures.length > 0) break
  }
  return {
    status: failures.length === 0 ? 200 : 409,
    body: {
      took: tookSince(startMs),
      timed_out: false,
      total,
      ...Object.fromEntries(counted.map(result => [result, counts[result]])),
      deleted: counts.deleted,
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
