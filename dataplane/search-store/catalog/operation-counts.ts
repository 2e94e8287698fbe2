/** Operations on one index since the store started. */
import type { Creations, IndexStorage, WriteError, WriteOp, WriteOutcome } from '../storage/index-storage.ts'

export class OperationCounts {
  indexed = 0
  deleted = 0
  unchanged = 0
  failed = 0
  writeMs = 0
  found = 0
  missing = 0
  queries = 0
  queryMs = 0
}

interface Counted {
  readonly storage: IndexStorage
  readonly counts: OperationCounts
}

/** Applies the operations and counts what became of them. */
export async function applyTo({ storage, counts }: Counted, ops: readonly WriteOp[]): Promise<readonly WriteOutcome[]> {
  const startMs = performance.now()
  const outcomes = await storage.apply(ops)
  counts.writeMs += performance.now() - startMs
  for (let at = 0; at < outcomes.length; at++) {
    const outcome = outcomes[at]!
    if ('error' in outcome) counts.failed++
    else if (outcome.result === 'noop') counts.unchanged++
    else if (ops[at]!.action === 'delete') counts.deleted++
    else counts.indexed++
  }
  return outcomes
}

/** The same for creations, in a storage that takes them. */
export async function createIn({ storage, counts }: Counted, creations: Creations): Promise<ReadonlyMap<number, WriteError>> {
  const startMs = performance.now()
  const errors = await storage.create!(creations)
  counts.writeMs += performance.now() - startMs
  counts.failed += errors.size
  counts.indexed += creations.count - errors.size
  return errors
}
