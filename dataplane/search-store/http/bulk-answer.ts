/** The answer to `_bulk`, an item for each operation in the order of the request. */
import type { ApiError } from '../api-error.ts'
import type { CatalogIndex } from '../catalog/catalog.ts'
import type { WriteOutcome } from '../storage/index-storage.ts'
import { Turns } from '../turns.ts'
import type { BulkItem } from './bulk-request.ts'
import { applyFilterPath, type FilterPath } from './filter-path.ts'
import { writeResult } from './write-request.ts'

/** What became of an item: refused before it came to an index, or done there. */
export type Settled =
  | { readonly kind: 'refused'; readonly error: ApiError }
  | { readonly kind: 'done'; readonly index: CatalogIndex; readonly outcome: WriteOutcome }

export interface BulkAnswer {
  readonly tookMs: number
  readonly items: readonly BulkItem[]
  readonly settled: readonly Settled[]
  readonly forcedRefresh: boolean
}

/** Items between two looks at the time. */
const ITEMS_A_LOOK = 64

/** JSON of the answer, as the filter leaves it. Others run meanwhile. */
export async function bulkAnswerText(answer: BulkAnswer, filter: FilterPath | undefined): Promise<string> {
  const errors = answer.settled.some(each => each.kind === 'refused' || 'error' in each.outcome)
  const head = JSON.stringify(filtered({ took: answer.tookMs, errors }, filter)).slice(0, -1)
  const items = await itemTexts(answer, filter)
  if (items.length === 0) return `${head}}`
  return `${head}${head === '{' ? '' : ','}"items":[${items.join(',')}]}`
}

async function itemTexts({ items, settled, forcedRefresh }: BulkAnswer, filter: FilterPath | undefined): Promise<string[]> {
  const texts: string[] = []
  /** Texts of items that went well and show nothing of their own, by action and result. */
  const alike = new Map<string, Map<string, string>>()
  const turns = new Turns()
  for (let at = 0; at < items.length; at++) {
    if (at % ITEMS_A_LOOK === 0 && turns.isDue()) await turns.next()
    const item = items[at]!
    const each = settled[at]!
    const result = each.kind === 'done' && 'result' in each.outcome ? each.outcome.result : undefined
    const known = result === undefined ? undefined : alike.get(item.action)?.get(result)
    if (known !== undefined) {
      if (known !== '') texts.push(known)
      continue
    }
    const shown = shownItem(itemBody(item, each, forcedRefresh), filter)
    const text = shown === undefined ? '' : JSON.stringify(shown)
    if (text !== '') texts.push(text)
    if (result === undefined || isOfItsOwn(shown, item.action)) continue
    const ofAction = alike.get(item.action) ?? new Map<string, string>()
    alike.set(item.action, ofAction.set(result, text))
  }
  return texts
}

/** Members in which two items with the same action and result differ. */
const OWN_MEMBERS = ['_index', '_id', '_version', '_seq_no'] as const

function isOfItsOwn(shown: unknown, action: string): boolean {
  const members = (shown as Readonly<Record<string, object>> | undefined)?.[action]
  return members !== undefined && OWN_MEMBERS.some(name => name in members)
}

function itemBody(item: BulkItem, each: Settled, forcedRefresh: boolean): object {
  const { action, id } = item
  if (each.kind === 'refused') return refusal(item, each.error.status, each.error.toCause())
  const result = writeResult(id ?? '', each.outcome, each.index, forcedRefresh)
  return 'body' in result ? { [action]: { ...result.body, status: result.status } } : refusal(item, result.status, result.error)
}

function refusal({ action, index, id }: BulkItem, status: number, error: object): object {
  return { [action]: { _index: index, _id: id, status, error } }
}

/** Undefined when the filter leaves nothing of the item. */
function shownItem(item: object, filter: FilterPath | undefined): unknown {
  return (filtered({ items: [item] }, filter) as { readonly items?: readonly unknown[] }).items?.[0]
}

const filtered = (value: object, filter: FilterPath | undefined) => (filter === undefined ? value : applyFilterPath(value, filter))
