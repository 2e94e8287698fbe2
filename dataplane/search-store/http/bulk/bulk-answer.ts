/** The answer to `_bulk`, an item for each operation in the order of the request. */
import type { ApiError } from '../../api-error.ts'
import type { CatalogIndex } from '../../catalog/catalog.ts'
import type { WriteOutcome } from '../../storage/index-storage.ts'
import { Turns } from '../../turns.ts'
import { applyFilterPath, type FilterPath } from '../answer/filter-path.ts'
import { JSON_TYPE } from '../answer/render.ts'
import type { Reply } from '../answer/reply.ts'
import { writeResult } from '../documents/write-request.ts'
import type { BulkItem } from './bulk-request.ts'

/** The fate of an item: refused before it came to an index, or done there. */
export type Settled =
  | { readonly kind: 'refused'; readonly error: ApiError }
  | { readonly kind: 'done'; readonly index: CatalogIndex; readonly outcome: WriteOutcome }

/** Items between two looks at the time. */
const ITEMS_A_LOOK = 64
/** A longer answer goes out in pieces as it is, not laid out. */
const MAX_TEXT_BYTES = 1024 * 1024

/** Gathers the answer, as the filter leaves it, portion by portion. Nothing of an operation is held beside its text. */
export class BulkAnswer {
  readonly #filter: FilterPath | undefined
  readonly #forcedRefresh: boolean
  /** Texts of items that went well and show nothing of their own, by action and result. */
  readonly #alike = new Map<string, Map<string, string>>()
  readonly #portions: Buffer[] = []
  #errors = false
  #bytes = 0

  constructor(filter: FilterPath | undefined, forcedRefresh: boolean) {
    this.#filter = filter
    this.#forcedRefresh = forcedRefresh
  }

  /** Bytes of the items so far. */
  get bytes(): number {
    return this.#bytes
  }

  /** Others run meanwhile. */
  async add(items: readonly BulkItem[], settled: readonly Settled[]): Promise<void> {
    const texts: string[] = []
    const turns = new Turns()
    for (let at = 0; at < items.length; at++) {
      if (at % ITEMS_A_LOOK === 0 && turns.isDue()) await turns.next()
      const text = this.#textOf(items[at]!, settled[at]!)
      if (text !== '') texts.push(text)
    }
    this.#errors ||= settled.some(each => each.kind === 'refused' || 'error' in each.outcome)
    if (texts.length === 0) return
    const portion = Buffer.from(texts.join(','))
    this.#bytes += portion.length
    this.#portions.push(portion)
  }

  #textOf(item: BulkItem, each: Settled): string {
    const result = each.kind === 'done' && 'result' in each.outcome ? each.outcome.result : undefined
    const known = result === undefined ? undefined : this.#alike.get(item.action)?.get(result)
    if (known !== undefined) return known
    const shown = shownItem(itemBody(item, each, this.#forcedRefresh), this.#filter)
    const text = shown === undefined ? '' : JSON.stringify(shown)
    if (result === undefined || isOfItsOwn(shown, item.action)) return text
    const ofAction = this.#alike.get(item.action) ?? new Map<string, string>()
    this.#alike.set(item.action, ofAction.set(result, text))
    return text
  }

  /** The gathered items, with status 200. */
  reply(tookMs: number): Reply {
    const pieces = [...this.#pieces(tookMs)]
    if (this.#bytes <= MAX_TEXT_BYTES) return { status: 200, json: Buffer.concat(pieces).toString(), isFiltered: true }
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
    const headers = { 'content-type': JSON_TYPE }
    return { status: 200, answer: { status: 200, headers, length, pieces: piecesOf(pieces) } }
  }

  *#pieces(tookMs: number): Generator<Buffer> {
    const head = JSON.stringify(filtered({ took: tookMs, errors: this.#errors }, this.#filter)).slice(0, -1)
    if (this.#portions.length === 0) return yield Buffer.from(`${head}}`)
    yield Buffer.from(`${head}${head === '{' ? '' : ','}"items":[`)
    for (const [at, portion] of this.#portions.entries()) {
      if (at > 0) yield COMMA
      yield portion
    }
    yield END
  }
}

const COMMA = Buffer.from(',')
const END = Buffer.from(']}')

async function* piecesOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, undefined> {
  yield* pieces
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
