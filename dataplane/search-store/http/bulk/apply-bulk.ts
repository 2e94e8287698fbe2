/** Applies the operations of a bulk, grouped by index, each with an end of its own. */
import { ApiError, indexNotFound } from '../../api-error.ts'
import type { Catalog, CatalogIndex } from '../../catalog/catalog.ts'
import { streamProblem } from '../../catalog/data-stream.ts'
import { applyTo } from '../../catalog/operation-counts.ts'
import type { WriteOp } from '../../storage/index-storage.ts'
import { Turns } from '../../turns.ts'
import type { Settled } from './bulk-answer.ts'
import type { BulkItem } from './bulk-request.ts'

/** Items between two looks at the time. */
const ITEMS_A_LOOK = 64

interface Group {
  readonly index: CatalogIndex
  readonly ops: WriteOp[]
  /** Where the items stand in the request. */
  readonly places: number[]
}

/** Applies the items; resolves with the fate of each, once all are durable. */
export async function applyBulk(catalog: Catalog, items: readonly BulkItem[]): Promise<readonly Settled[]> {
  const settled = new Array<Settled>(items.length)
  const groups = await groupByIndex(catalog, items, settled)
  // All of them end before this does: their documents are views into the body, which the server takes back.
  const ends = await Promise.allSettled(groups.map(group => write(group, settled)))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return settled
}

async function write({ index, ops, places }: Group, settled: Settled[]): Promise<void> {
  const outcomes = await applyTo(index, ops)
  for (let at = 0; at < places.length; at++) settled[places[at]!] = { kind: 'done', index, outcome: outcomes[at]! }
}

/** Items without a usable index are refused here. */
async function groupByIndex(catalog: Catalog, items: readonly BulkItem[], settled: Settled[]): Promise<readonly Group[]> {
  const groups = new Map<string, Group>()
  const targets = { create: new Map<string, CatalogIndex | ApiError>(), other: new Map<string, CatalogIndex | ApiError>() }
  const turns = new Turns()
  for (let place = 0; place < items.length; place++) {
    if (place % ITEMS_A_LOOK === 0 && turns.isDue()) await turns.next()
    const item = items[place]!
    const known = item.action === 'create' ? targets.create : targets.other
    const target = known.get(item.index) ?? (await targetOf(catalog, item))
    // A later document makes the index that a deletion did not find.
    if (item.action !== 'delete' || !(target instanceof ApiError)) known.set(item.index, target)
    const error = item.error ?? (target instanceof ApiError ? target : problemOf(item, target))
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

/** Why an index does not take an operation; undefined where it does. */
function problemOf({ index, op }: BulkItem, { name, dataStream }: CatalogIndex): ApiError | undefined {
  return dataStream === undefined || op === undefined ? undefined : streamProblem(dataStream, op, index !== name)
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
    if (item.action === 'delete' && !catalog.has(item.index)) return indexNotFound(item.index)
    return await catalog.writeTarget(item.index, item.action)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}
