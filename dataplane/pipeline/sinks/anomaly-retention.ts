/** Deletes anomalies that have expired, in portions. */
import { ALL_ANOMALIES } from '../../contract/indices.ts'
import type { Anomaly } from '../../domain/anomalies/anomaly.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SearchStore } from '../../ports/search-store.ts'

const DAY_MS = 86_400_000
/** Anomalies deleted in one request, and requests for one index in a turn. The next turn deletes the rest. */
const PORTION = 500
const MAX_PORTIONS = 100
/** Between two portions, for other work of the store. */
const PAUSE_MS = 200

export interface AnomalyRetentionDeps {
  readonly store: Pick<SearchStore, 'listIndices' | 'search' | 'deleteByQuery'>
  readonly clock: Clock
  /** Ends it between two portions. */
  readonly signal: AbortSignal
}

export interface AnomalyRetentionResult {
  readonly deleted: number
  /** Whether expired anomalies are left for the next turn. */
  readonly isUnfinished: boolean
  readonly failed: readonly { readonly name: string; readonly error: unknown }[]
}

/**
 * Deletes anomalies that happened, and were stored, longer than `retentionDays` ago: in portions, the oldest first. An index that fails keeps
 * none of the others. Incidents stay.
 */
export async function deleteExpiredAnomalies(deps: AnomalyRetentionDeps, retentionDays: number): Promise<AnomalyRetentionResult> {
  const { store, clock, signal } = deps
  const before = new Date(clock.nowMs() - retentionDays * DAY_MS).toISOString()
  let deleted = 0
  let isUnfinished = false
  const failed: { name: string; error: unknown }[] = []
  for (const name of await store.listIndices(ALL_ANOMALIES)) {
    try {
      for (let portion = 0; ; portion++) {
        if (signal.aborted) return { deleted, isUnfinished: true, failed }
        isUnfinished ||= portion === MAX_PORTIONS
        const found = portion < MAX_PORTIONS ? await deletePortion(deps, name, before) : 0
        deleted += found
        if (found === 0) break
        await clock.sleep(PAUSE_MS, signal)
      }
    } catch (error) {
      failed.push({ name, error })
    }
  }
  return { deleted, isUnfinished, failed }
}

/** The oldest that have expired; how many that were. */
async function deletePortion({ store }: AnomalyRetentionDeps, index: string, before: string): Promise<number> {
  const expired = expiredBefore(before)
  const { hits } = await store.search<Pick<Anomaly, 'timestamp'>>({
    index,
    body: {
      size: PORTION,
      track_total_hits: false,
      _source: ['timestamp'],
      query: { bool: expired },
      sort: [{ timestamp: { order: 'asc', unmapped_type: 'date' } }],
    },
  })
  const last = hits.at(-1)?.source.timestamp
  if (last === undefined) return 0
  return store.deleteByQuery(index, { bool: { ...expired, filter: [...expired.filter, { range: { timestamp: { lte: last } } }] } }, PORTION)
}

/** Records that came late have anomalies of long ago, which stay as long as those of today. */
function expiredBefore(time: string) {
  return { filter: [{ range: { timestamp: { lt: time } } }], must_not: [{ range: { indexed_at: { gte: time } } }] }
}
