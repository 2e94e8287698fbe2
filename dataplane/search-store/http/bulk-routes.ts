/** `_bulk`: many writes in one request, grouped by index, each with an answer of its own. */

import { ApiError, illegalArgument, indexNotFound, unsupported } from '../api-error.ts'
import type { Catalog, CatalogIndex } from '../catalog/catalog.ts'
import { words } from '../json/json-reader.ts'
import type { WriteOp } from '../storage/index-storage.ts'
import { Turns } from '../turns.ts'
import { BulkAnswer, type Settled } from './bulk-answer.ts'
import { type BulkItem, BulkReader, readBulk } from './bulk-request.ts'
import { parseFilterPath } from './filter-path.ts'
import { noRoomForAnswer } from './held-answers.ts'
import { booleanParameter, NODE_PARAMETERS, tookSince } from './index-parameters.ts'
import type { Reply } from './reply.ts'
import { type Call, type Route, routes } from './route.ts'

const PARAMETERS = [
  ...NODE_PARAMETERS,
  ...words('refresh require_alias _source _source_includes _source_excludes pipeline batch_size type'),
]

export const BULK_ROUTES: readonly Route[] = routes(['POST', 'PUT'], ['/_bulk', '/:index/_bulk'], PARAMETERS, bulk, 'documents')

/** Whether a write asks to be visible at once. It always is; the answer says so where OpenSearch does. */
export function isForcedRefresh(query: URLSearchParams): boolean {
  const value = query.get('refresh')
  if (value === null || value === 'false' || value === 'wait_for') return false
  if (value === '' || value === 'true') return true
  throw illegalArgument(`Unknown value for refresh: [${value}].`)
}

/** Items between two looks at the time. */
const ITEMS_A_LOOK = 64

/** Size of an item in the answer to a large bulk, bytes, about. */
const ANSWER_ITEM_BYTES = 256

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
  const filter = parseFilterPath(call.query.get('filter_path'))
  const defaults = { index: call.path['index'], requireAlias: booleanParameter(call.query, 'require_alias') }
  const reader = new BulkReader(call.body, defaults)
  const { portion, count } = await readBulk(reader, call.memory)
  const answer = new BulkAnswer(filter, forcedRefresh)
  const isLarge = count > portion.length
  // Before anything is written: afterwards no answer is refused.
  if (isLarge && !call.answerMemory.take(count * ANSWER_ITEM_BYTES)) throw noRoomForAnswer()
  for (let items = portion; items.length > 0; items = await reader.next()) await answer.add(items, await apply(call.deps.catalog, items))
  if (isLarge) call.answerMemory.giveBack(Math.max(0, count * ANSWER_ITEM_BYTES - answer.bytes))
  return answer.reply(tookSince(startMs))
}

/** Applies the items; resolves with the fate of each, once all are durable. */
async function apply(catalog: Catalog, items: readonly BulkItem[]): Promise<readonly Settled[]> {
  const settled = new Array<Settled>(items.length)
  const groups = await groupByIndex(catalog, items, settled)
  // All of them end before this does: their documents are views into the body, which the server takes back.
  const ends = await Promise.allSettled(groups.map(group => write(group, settled)))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return settled
}

async function write({ index, ops, places }: Group, settled: Settled[]): Promise<void> {
  const outcomes = await index.storage.apply(ops)
  for (let at = 0; at < places.length; at++) settled[places[at]!] = { kind: 'done', index, outcome: outcomes[at]! }
}

/** Items without a usable index are refused here. */
async function groupByIndex(catalog: Catalog, items: readonly BulkItem[], settled: Settled[]): Promise<readonly Group[]> {
  const groups = new Map<string, Group>()
  const targets = new Map<string, CatalogIndex | ApiError>()
  const turns = new Turns()
  for (let place = 0; place < items.length; place++) {
    if (place % ITEMS_A_LOOK === 0 && turns.isDue()) await turns.next()
    const item = items[place]!
    const target = targets.get(item.index) ?? (await targetOf(catalog, item))
    targets.set(item.index, target)
    const error = item.error ?? (target instanceof ApiError ? target : undefined)
    if (error !== undefined || target instanceof ApiError || item.op === undefined) {
      settled[place] = { kind: 'refused', error: error! }
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
