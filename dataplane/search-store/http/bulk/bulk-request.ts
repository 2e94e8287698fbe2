/** Reads the NDJSON of `_bulk`: action lines are parsed, documents are left as bytes. */
import { ApiError, illegalArgument, parsingError, validationError } from '../../api-error.ts'
import type { MemoryLease } from '../../memory-pool.ts'
import type { WriteOp } from '../../storage/index-storage.ts'
import { Turns } from '../../turns.ts'
import { checkId, duplicateRefusal, newId, parseCondition, parseUpdate } from '../documents/write-request.ts'
import { missingBody, overloaded } from '../request/request-body.ts'
import { ActionLines, type BulkAction, type BulkMeta } from './bulk-action-line.ts'

export interface BulkItem {
  readonly action: BulkAction
  readonly index: string
  /** Undefined for an item that fails alone. */
  readonly op: WriteOp | undefined
  readonly error: ApiError | undefined
  readonly id: string | null
  readonly requireAlias: boolean
}

const NEWLINE = 0x0a
/** Operations of one request. */
const MAX_ITEMS = 250_000
/** Memory of an operation, its outcome and its answer beside its line, which may be short, bytes. */
const ITEM_BYTES = 512
/** Lines that are read between two looks at the time. */
const LINES_A_LOOK = 32
/** Longer action lines are refused. */
const MAX_ACTION_LINE_BYTES = 64 * 1024

export interface BulkDefaults {
  readonly index: string | undefined
  readonly requireAlias: boolean
  /** No other document ever has the id of one of these at another `timestamp`, the first member of each. */
  readonly idsTellTimes: boolean
}

/** Operations that are worked off at a time: a bulk with more is gone through once before, and holds no more than these. */
export const PORTION_ITEMS = 8_192

/** Reads the operations of a body, portion by portion. */
export class BulkReader {
  readonly #body: Buffer
  readonly #defaults: BulkDefaults
  #lines: ActionLines
  #line = 0
  #at = 0

  /** Throws 400 for a body that cannot hold operations. */
  constructor(body: Buffer, defaults: BulkDefaults) {
    if (body.length === 0) throw missingBody()
    if (body[body.length - 1] !== NEWLINE) throw illegalArgument('The bulk request must be terminated by a newline [\n]')
    this.#body = body
    this.#defaults = defaults
    this.#lines = new ActionLines(body)
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#body.length
  }

  /** Begins anew. */
  rewind(): void {
    this.#line = 0
    this.#at = 0
  }

  /** The next operations, none at the end. Throws 400 for one that is malformed. Others run meanwhile. */
  async next(): Promise<readonly BulkItem[]> {
    const items: BulkItem[] = []
    const turns = new Turns()
    while (!this.isAtEnd && items.length < PORTION_ITEMS) {
      if (this.#line % LINES_A_LOOK === 0 && turns.isDue()) await turns.next()
      const item = this.#read()
      if (item !== undefined) items.push(item)
    }
    return items
  }

  /** Undefined for a line that is empty. */
  #read(): BulkItem | undefined {
    const body = this.#body
    const start = this.#at
    const end = body.indexOf(NEWLINE, start)
    this.#line++
    if (end - start > MAX_ACTION_LINE_BYTES)
      throw illegalArgument(`Malformed action/metadata line [${this.#line}], it may have at most ${MAX_ACTION_LINE_BYTES} bytes`)
    this.#at = end + 1
    if (end === start || isBlank(body, start, end)) return undefined
    const meta = this.#lines.read(start, end, this.#line)
    if (meta.action === 'delete') return itemOf(meta, this.#defaults, undefined)
    const sourceEnd = this.isAtEnd ? -1 : body.indexOf(NEWLINE, this.#at)
    if (sourceEnd < 0) throw illegalArgument(`Malformed action/metadata line [${this.#line}]: no document follows it`)
    const source = body.subarray(this.#at, sourceEnd)
    this.#at = sourceEnd + 1
    this.#line++
    return itemOf(meta, this.#defaults, source)
  }
}

/**
 * The first portion of a body all of which was read: nothing is written of one with a malformed item, for which it throws 400, nor of one that has
 * too many (413). Throws 429 when there is no room for its operations in `memory`. `count`: operations of the whole body.
 */
export async function readBulk(
  reader: BulkReader,
  memory: MemoryLease,
): Promise<{ readonly portion: readonly BulkItem[]; readonly count: number }> {
  const portion = await reader.next()
  let count = 0
  for (let items = portion; items.length > 0; items = await reader.next()) {
    count += items.length
    if (count > MAX_ITEMS)
      throw new ApiError(413, 'content_too_long_exception', `a bulk request may hold at most ${MAX_ITEMS} operations; send several`)
    if (!memory.take(items.length * ITEM_BYTES)) throw overloaded()
  }
  if (count === 0) throw validationError('no requests added')
  if (count > portion.length) {
    reader.rewind()
    return { portion: await reader.next(), count }
  }
  return { portion, count }
}

function isBlank(body: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (body[at]! > 0x20) return false
  return true
}

function itemOf(meta: BulkMeta, { index: defaultIndex, requireAlias, idsTellTimes }: BulkDefaults, source: Buffer | undefined): BulkItem {
  const { action } = meta
  const index = meta.index ?? defaultIndex
  if (index === undefined) throw validationError('index is missing')
  if (meta.id === undefined && (action === 'update' || action === 'delete')) throw validationError('id is missing')
  const id = meta.id ?? newId()
  const isEmpty = id === ''
  if (!isEmpty) checkId(id)
  // The product's own documents have no name twice.
  const isChecked = !idsTellTimes && source !== undefined && action !== 'update'
  const error = isEmpty ? illegalArgument('if _id is specified it must not be empty') : isChecked ? duplicateRefusal(source) : undefined
  return {
    action,
    index,
    id,
    requireAlias: meta.requireAlias ?? requireAlias,
    op: error === undefined ? opOf(meta, id, source, idsTellTimes) : undefined,
    error,
  }
}

function opOf({ action, ifSeqNo, ifPrimaryTerm }: BulkMeta, id: string, source: Buffer | undefined, idTellsTime: boolean): WriteOp {
  const condition = ifSeqNo === undefined && ifPrimaryTerm === undefined ? undefined : parseCondition(ifSeqNo, ifPrimaryTerm)
  if (action === 'delete') return { action, id, ...condition }
  if (source === undefined) throw parsingError('a document is missing')
  if (action === 'update') return { action, id, ...parseUpdate(source, 0, source.length, idTellsTime), ...condition, idTellsTime }
  if (action === 'create' && condition !== undefined)
    throw validationError('create operations do not support compare and set. use index instead')
  return condition === undefined ? { action, id, source, idTellsTime } : { action, id, source, ...condition, idTellsTime }
}
