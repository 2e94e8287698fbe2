/** Reads the NDJSON of `_bulk`: action lines are parsed, documents are left as bytes. */
import { ApiError, illegalArgument, parsingError, validationError } from '../api-error.ts'
import type { MemoryLease } from '../memory-pool.ts'
import type { WriteOp } from '../storage/index-storage.ts'
import { Turns } from '../turns.ts'
import { ActionLines, type BulkAction, type BulkMeta } from './bulk-action-line.ts'
import { overloaded } from './request-body.ts'
import { checkId, newId, parseCondition, parseUpdate } from './write-request.ts'

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
/** What an operation, its outcome and its answer take beside its line, which may be short, bytes. */
const ITEM_BYTES = 512
/** Operations whose memory is asked for at a time, and lines that are read between two looks at the time. */
const ITEMS_A_LEASE = 256
const LINES_A_LOOK = 32
/** Longer action lines are refused. */
const MAX_ACTION_LINE_BYTES = 64 * 1024

export interface BulkDefaults {
  readonly index: string | undefined
  readonly requireAlias: boolean
}

/**
 * Throws 400 for a body with an item that is malformed: nothing of it is written. Throws 429 when there is no room for its operations in
 * `memory`. Others run meanwhile.
 */
export async function parseBulk(
  body: Buffer,
  { index: defaultIndex, requireAlias }: BulkDefaults,
  memory: MemoryLease,
): Promise<readonly BulkItem[]> {
  if (body.length === 0) throw new ApiError(400, 'parse_exception', 'request body is required')
  if (body[body.length - 1] !== NEWLINE) throw illegalArgument('The bulk request must be terminated by a newline [\\n]')
  const items: BulkItem[] = []
  const lines = new ActionLines(body)
  let line = 0
  let at = 0
  const turns = new Turns()
  while (at < body.length) {
    line++
    if (line % LINES_A_LOOK === 0 && turns.isDue()) await turns.next()
    const end = body.indexOf(NEWLINE, at)
    if (end - at > MAX_ACTION_LINE_BYTES)
      throw illegalArgument(`Malformed action/metadata line [${line}], it may have at most ${MAX_ACTION_LINE_BYTES} bytes`)
    if (end === at || isBlank(body, at, end)) {
      at = end + 1
      continue
    }
    if (items.length === MAX_ITEMS)
      throw new ApiError(413, 'content_too_long_exception', `a bulk request may hold at most ${MAX_ITEMS} operations; send several`)
    if (items.length % ITEMS_A_LEASE === 0 && !memory.take(ITEMS_A_LEASE * ITEM_BYTES)) throw overloaded()
    const meta = lines.read(at, end, line)
    at = end + 1
    if (meta.action === 'delete') {
      items.push(itemOf(meta, defaultIndex, requireAlias, undefined))
      continue
    }
    const sourceEnd = at < body.length ? body.indexOf(NEWLINE, at) : -1
    if (sourceEnd < 0) throw illegalArgument(`Malformed action/metadata line [${line}]: no document follows it`)
    items.push(itemOf(meta, defaultIndex, requireAlias, body.subarray(at, sourceEnd)))
    at = sourceEnd + 1
    line++
  }
  if (items.length === 0) throw validationError('no requests added')
  return items
}

function isBlank(body: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (body[at]! > 0x20) return false
  return true
}

function itemOf(meta: BulkMeta, defaultIndex: string | undefined, requireAlias: boolean, source: Buffer | undefined): BulkItem {
  const { action } = meta
  const index = meta.index ?? defaultIndex
  if (index === undefined) throw validationError('index is missing')
  if (meta.id === undefined && (action === 'update' || action === 'delete')) throw validationError('id is missing')
  const id = meta.id ?? newId()
  const isEmpty = id === ''
  if (!isEmpty) checkId(id)
  return {
    action,
    index,
    id,
    requireAlias: meta.requireAlias ?? requireAlias,
    op: isEmpty ? undefined : opOf(meta, id, source),
    error: isEmpty ? illegalArgument('if _id is specified it must not be empty') : undefined,
  }
}

function opOf({ action, ifSeqNo, ifPrimaryTerm }: BulkMeta, id: string, source: Buffer | undefined): WriteOp {
  const condition = ifSeqNo === undefined && ifPrimaryTerm === undefined ? undefined : parseCondition(ifSeqNo, ifPrimaryTerm)
  if (action === 'delete') return { action, id, ...condition }
  if (source === undefined) throw parsingError('a document is missing')
  if (action === 'update') return { action, id, ...parseUpdate(source, 0, source.length), ...condition }
  if (action === 'create' && condition !== undefined)
    throw validationError('create operations do not support compare and set. use index instead')
  return condition === undefined ? { action, id, source } : { action, id, source, ...condition }
}
