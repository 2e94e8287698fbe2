/** Sorts the outcome of one item of a bulk request into the port's outcomes. */
import type { BulkOperation, BulkOutcome } from '../../ports/search-store.ts'

/** An item of the `_bulk` response, as far as `BULK_FILTER_PATH` lets it through. */
export interface BulkItemResponse {
  readonly status: number
  readonly _version?: number
  readonly error?: { readonly type?: string; readonly reason?: string; readonly caused_by?: { readonly reason?: string } }
}

/** How long a bulk waits for a shard that is not there: less than the request's own time, so that each item gets its answer. */
export const SHARD_TIMEOUT = '10s'

/** Keeps the response to what `bulkOutcome` reads: some 25 bytes for an item that went well. */
export const BULK_FILTER_PATH = 'items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by.reason'

/** The index does not exist, and the cluster has no room for its shards (`cluster.max_shards_per_node`). */
export const NO_ROOM_ERROR = 'validation_exception'

/** The embedded store has the document, and cannot read it: its file is damaged. OpenSearch knows no such error. */
const DAMAGED_ERROR = 'damaged_document_exception'

/** Refusals that are the cluster's state, not the document's fault, such as a disk that is full (index made read-only), or an index that somebody closed. */
const PASSING_ERRORS = new Set([
  'cluster_block_exception',
  'unavailable_shards_exception',
  'circuit_breaking_exception',
  'index_closed_exception',
])

/** The index is made for the document, unless it is being deleted in that moment, or the store may not make it. */
const MISSING_ERROR = 'index_not_found_exception'

/** Whether the store refuses to write because of its disk. */
export function isDiskFull(error: BulkItemResponse['error']): boolean {
  return error?.type === 'cluster_block_exception' && /\bdisk\b/.test(error.reason ?? '')
}

/** Statuses with which the whole store says: not now. */
export function isUnavailableStatus(status: number): boolean {
  return status === 429 || status >= 500
}

/** The outcome of nearly every item: one object serves all. */
const CREATED: BulkOutcome = { status: 'done', created: true }
const UPDATED: BulkOutcome = { status: 'done', created: false }

export function bulkOutcome(action: BulkOperation['action'], { status, error, _version: version }: BulkItemResponse): BulkOutcome {
  if (status < 300 && version !== undefined) return { status: 'done', created: status === 201, version }
  if (status < 300) return status === 201 ? CREATED : UPDATED
  if (status === 409 && action === 'create') return { status: 'exists' }
  const reason = reasonOf(status, error)
  if (status === 429) return { status: 'retry', reason, isTooMuch: true, isBusy: true }
  if (error?.type === NO_ROOM_ERROR) return { status: 'retry', reason, hasNoRoom: true }
  if (status === 409) return { status: 'retry', reason }
  if (error?.type === DAMAGED_ERROR) return { status: 'refused', reason }
  if (isUnavailableStatus(status) || PASSING_ERRORS.has(error?.type ?? '')) return { status: 'retry', reason, isDown: true }
  if (error?.type === MISSING_ERROR) return { status: 'refused', reason, isMissing: true }
  return { status: 'refused', reason }
}

function reasonOf(status: number, error: BulkItemResponse['error']): string {
  const reason = [error?.reason, error?.caused_by?.reason].filter(Boolean).join(': ')
  return `${status} ${error?.type ?? 'without a type'}${reason === '' ? '' : `: ${reason}`}`
}
