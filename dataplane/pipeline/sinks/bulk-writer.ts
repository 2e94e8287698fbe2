import type { Clock } from '../../ports/clock.ts'
import { type BulkOperation, type BulkOutcome, type SearchStore, SearchStoreUnavailable } from '../../ports/search-store.ts'

/** One bulk operation, and the form to try when the store refuses it as it is. */
export interface BulkItem {
  readonly operation: BulkOperation
  /** Builds the second form; undefined when there is none. */
  readonly folded?: () => BulkOperation
}

export interface BulkResult {
  /** Documents that were not there before. */
  readonly created: number
  /** Refusals and failed attempts, each time an item had one. */
  readonly errors: number
  /** Items that the store will take in no form, with its reason. */
  readonly refused: readonly { readonly item: number; readonly reason: string }[]
}

export interface BulkWriterDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly signal: AbortSignal
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5_000
/** About a minute in all; after it the caller starts over with back-off of its own. */
const MAX_ATTEMPTS = 18

interface Pending {
  readonly item: number
  readonly operation: BulkOperation
  readonly folded: boolean
}

/** Writes every item, retrying what the store cannot take now and folding what it refuses; rejects when the store stays away. */
export async function writeBulk(items: readonly BulkItem[], { store, clock, signal }: BulkWriterDeps): Promise<BulkResult> {
  let pending: readonly Pending[] = items.map(({ operation }, item) => ({ item, operation, folded: false }))
  let created = 0
  let errors = 0
  const refused: { item: number; reason: string }[] = []
  let lastReason = ''
  let pauseMs = FIRST_PAUSE_MS
  for (let attempt = 0; pending.length > 0; attempt++) {
    if (attempt === MAX_ATTEMPTS || signal.aborted)
      throw new SearchStoreUnavailable(`${pending.length} documents not written: ${lastReason}`)
    const outcomes = await tryBulk(store, pending)
    const again: Pending[] = []
    let mustWait = false
    for (const [i, outcome] of outcomes.entries()) {
      const entry = pending[i]!
      if (outcome.status === 'exists') continue
      if (outcome.status === 'done') {
        if (outcome.created) created++
        continue
      }
      errors++
      lastReason = outcome.reason
      if (outcome.status === 'retry') {
        mustWait = true
        again.push(entry)
        continue
      }
      const folded = entry.folded ? undefined : items[entry.item]!.folded?.()
      if (folded === undefined) refused.push({ item: entry.item, reason: outcome.reason })
      else again.push({ item: entry.item, operation: folded, folded: true })
    }
    pending = again
    if (mustWait) {
      await clock.sleep(pauseMs, signal)
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    }
  }
  return { created, errors, refused }
}

async function tryBulk(store: SearchStore, pending: readonly Pending[]): Promise<readonly BulkOutcome[]> {
  try {
    return await store.bulk(pending.map(({ operation }) => operation))
  } catch (error) {
    if (!(error instanceof SearchStoreUnavailable)) throw error
    return pending.map(() => ({ status: 'retry', reason: error.message }))
  }
}
