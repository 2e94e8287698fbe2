import { isAbortMarker, isControl, isTransactional, type RecordBatch } from './read-batch.ts'

export interface AbortedTransaction {
  readonly producerId: bigint
  readonly firstOffset: number
}

/**
 * The batches without markers and without what transactions wrote that were aborted. A producer may have aborted several of them,
 * and the marker that ends one may come in a later answer than its records.
 */
export function committedBatches(batches: readonly RecordBatch[], aborted: readonly AbortedTransaction[]): readonly RecordBatch[] {
  const queue = aborted.toSorted((a, b) => a.firstOffset - b.firstOffset)
  const aborting = new Set<bigint>()
  const committed: RecordBatch[] = []
  let next = 0
  for (const batch of batches) {
    while (next < queue.length && queue[next]!.firstOffset <= batch.lastOffset) aborting.add(queue[next++]!.producerId)
    if (isControl(batch)) {
      if (isAbortMarker(batch)) aborting.delete(batch.producerId)
    } else if (!isTransactional(batch) || !aborting.has(batch.producerId)) committed.push(batch)
  }
  return committed
}
