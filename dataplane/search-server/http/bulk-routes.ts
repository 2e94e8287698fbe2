/** `_bulk`: many writes in one request, grouped by index, each with an answer of its own. */
import { ApiError, indexNotFound, unsupported } from '../api-error.ts'
import type { Catalog, CatalogIndex } from '../catalog/catalog.ts'
import type { WriteOp } from '../storage/index-storage.ts'
import { type BulkItem, parseBulk } from './bulk-request.ts'
import { booleanParameter, NODE_PARAMETERS, tookSince } from './index-parameters.ts'
import type { Reply } from './reply.ts'
import type { Call, Route } from './route.ts'
import { type WriteResult, writeResult } from './write-request.ts'

const PARAMETERS = [
  ...NODE_PARAMETERS,
  'refresh',
  'require_alias',
  '_source',
  '_source_includes',
  '_source_excludes',
  'pipeline',
  'batch_size',
  'type',
]

export const BULK_ROUTES: readonly Route[] = ['/_bulk', '/{index}/_bulk'].map(
  (pattern): Route => ({ methods: ['POST', 'PUT'], pattern, body: 'documents', parameters: PARAMETERS, handle: bulk }),
)

/** Whether a write asks to be visible at once. It always is; the answer says so where OpenSearch does. */
export function isForcedRefresh(query: URLSearchParams): boolean {
  const value = query.get('refresh')
  if (value === null || value === 'false' || value === 'wait_for') return false
  if (value === '' || value === 'true') return true
  throw new ApiError(400, 'illegal_argument_exception', `Unknown value for refresh: [${value}].`)
}

interface Group {
  readonly index: CatalogIndex
  readonly ops: WriteOp[]
  /** Where the items stand in the request. */
  readonly places: number[]
}

async function bulk(call: Call): Promise<Reply> {
  const startMs = performance.now()
  if (call.query.has('pipeline')) throw unsupported('parameter [pipeline]')
  const forcedRefresh = isForcedRefresh(call.query)
  const items = parseBulk(call.body, call.path['index'], booleanParameter(call.query, 'require_alias'))
  const results = new Array<WriteResult>(items.length)
  const groups = await groupByIndex(call.deps.catalog, items, results)
  await Promise.all(
    groups.map(async ({ index, ops, places }) => {
      const outcomes = await index.storage.apply(ops)
      for (const [at, place] of places.entries()) results[place] = writeResult(ops[at]!, outcomes[at]!, index, forcedRefresh)
    }),
  )
  let hasErrors = false
  const shown = items.map((item, at) => {
    const result = results[at]!
    if ('body' in result) return { [item.action]: { ...result.body, status: result.status } }
    hasErrors = true
    return { [item.action]: { _index: item.index, _id: item.id, status: result.status, error: result.error } }
  })
  return { status: 200, body: { took: tookSince(startMs), errors: hasErrors, items: shown } }
}

/** Items whose index cannot be had get their error here. */
async function groupByIndex(catalog: Catalog, items: readonly BulkItem[], results: WriteResult[]): Promise<readonly Group[]> {
  const groups = new Map<string, Group>()
  const targets = new Map<string, CatalogIndex | ApiError>()
  for (const [place, item] of items.entries()) {
    const target = targets.get(item.index) ?? (await targetOf(catalog, item))
    targets.set(item.index, target)
    const error = item.error ?? (target instanceof ApiError ? target : undefined)
    if (error !== undefined || target instanceof ApiError || item.op === undefined) {
      results[place] = { status: error!.status, error: error!.toCause() }
      continue
    }
    const group = groups.get(target.name)
    if (group === undefined) groups.set(target.name, { index: target, ops: [item.op], places: [place] })
    else {
      group.ops.push(item.op)
      group.places.push(place)
    }
  }
  return [...groups.values()]
}

async function targetOf(catalog: Catalog, item: BulkItem): Promise<CatalogIndex | ApiError> {
  try {
    if (item.requireAlias && !catalog.isAlias(item.index))
      return new ApiError(
        404,
        'index_not_found_exception',
        `no such index [${item.index}] and [require_alias] request flag is [true] and [${item.index}] is not an alias`,
      )
    // Deleting from an index that is not there does not make it.
    if (item.action === 'delete' && catalog.find(item.index) === undefined && !catalog.isAlias(item.index)) return indexNotFound(item.index)
    return await catalog.writeTarget(item.index)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}
