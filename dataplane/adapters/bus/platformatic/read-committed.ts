import type { RecordsBatch } from '@platformatic/kafka'

const TRANSACTIONAL = 0x10
const CONTROL = 0x20
/** The broker's clock dated the batch. */
const LOG_APPEND_TIME = 0x08
const ABORT_MARKER = 0

export interface AbortedTransaction {
  readonly producerId: bigint
  readonly firstOffset: bigint
}

/**
 * The batches without markers and without what transactions wrote that were aborted. A producer may have aborted several of them,
 * and the marker that ends one may come in a later answer than its records.
 */
export function committedBatches(batches: readonly RecordsBatch[], aborted: readonly AbortedTransaction[]): readonly RecordsBatch[] {
  const queue = [...aborted].sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1))
  const aborting = new Set<bigint>()
  const committed: RecordsBatch[] = []
  let next = 0
  for (const batch of batches) {
    const lastOffset = lastOffsetOf(batch)
    while (next < queue.length && queue[next]!.firstOffset <= lastOffset) aborting.add(queue[next++]!.producerId)
    if ((batch.attributes & CONTROL) !== 0) {
      if (isAbortMarker(batch)) aborting.delete(batch.producerId)
    } else if ((batch.attributes & TRANSACTIONAL) === 0 || !aborting.has(batch.producerId)) committed.push(batch)
  }
  return committed
}

/** When the bus took each record of a batch, ms since the epoch, by the record's `timestampDelta`. */
export function timestampsOf({ attributes, firstTimestamp, maxTimestamp }: RecordsBatch): (timestampDelta: bigint) => number {
  const [firstMs, lastMs] = [Number(firstTimestamp), Number(maxTimestamp)]
  return (attributes & LOG_APPEND_TIME) === 0 ? delta => firstMs + Number(delta) : () => lastMs
}

export const lastOffsetOf = (batch: RecordsBatch) => batch.firstOffset + BigInt(batch.lastOffsetDelta)

/** A marker's key is its version and its type. */
function isAbortMarker({ records }: RecordsBatch): boolean {
  const key = records[0]?.key
  return key !== undefined && key !== null && key.length >= 4 && Buffer.from(key).readInt16BE(2) === ABORT_MARKER
}
