import type { Clock } from '../../ports/clock.ts'
import { type BulkOperation, type BulkOutcome, type SearchStore, SearchStoreUnavailable } from '../../ports/search-store.ts'

export interface BulkResult {
  /** Documents that were not there before. */
  readonly created: number
  /** Refusals and failed attempts, each time an item had one. */
  readonly errors: number
  /** Operations, by their position, that the store will take in no form, with its reason. */
  readonly refused: readonly { readonly item: number; readonly reason: string }[]
}

export interface BulkWriterDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The form to try when the store refuses an operation as it is. */
  readonly fold?: (operation: BulkOperation) => BulkOperation
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5_000
/** About a minute in all; after it the caller starts over with back-off of its own. */
const MAX_ATTEMPTS = 18

/** Writes every document, retrying what the store cannot take now and folding what it refuses; rejects when the store stays away. */
export async function writeBulk(operations: readonly BulkOperation[], deps: BulkWriterDeps): Promise<BulkResult> {
  const { store, clock, signal, fold } = deps
  let pending = operations
  /** Position in `operations` of each pending one; undefined while all are pending. */
  let positions: readonly number[] | undefined
  const folded = new Set<number>()
  const refused: { item: number; reason: string }[] = []
  let created = 0
  let errors = 0
  let lastReason = ''
  let pauseMs = FIRST_PAUSE_MS
  for (let attempt = 0; pending.length > 0; attempt++) {
    if (attempt === MAX_ATTEMPTS || signal.aborted)
      throw new SearchStoreUnavailable(`${pending.length} documents not written: ${lastReason}`)
    const outcomes = await tryBulk(store, pending)
    const again: BulkOperation[] = []
    const againPositions: number[] = []
    let mustWait = false
    for (let i = 0; i < outcomes.length; i++) {
      const outcome = outcomes[i]!
      if (outcome.status === 'exists') continue
      if (outcome.status === 'done') {
        if (outcome.created) created++
        continue
      }
      const item = positions === undefined ? i : positions[i]!
      let next = pending[i]!
      errors++
      lastReason = outcome.reason
      if (outcome.status === 'retry') mustWait = true
      else if (fold === undefined || folded.has(item)) {
        refused.push({ item, reason: outcome.reason })
        continue
      } else {
        folded.add(item)
        next = fold(next)
      }
      again.push(next)
      againPositions.push(item)
    }
    pending = again
    positions = againPositions
    if (mustWait) {
      await clock.sleep(pauseMs, signal)
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    }
  }
  return { created, errors, refused }
}

async function tryBulk(store: SearchStore, operations: readonly BulkOperation[]): Promise<readonly BulkOutcome[]> {
  try {
    return await store.bulk(operations)
  } catch (error) {
    if (!(error instanceof SearchStoreUnavailable)) throw error
    return operations.map(() => ({ status: 'retry', reason: error.message }))
  }
}
