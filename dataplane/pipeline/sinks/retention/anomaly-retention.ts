/** Deletes anomalies that have expired, in portions. */
import { ALL_ANOMALIES } from '../../../contract/indices.ts'
import type { Anomaly } from '../../../domain/anomalies/anomaly.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { type Deletions, deleteOldestInPortions, PORTION, type PortionDeps } from './delete-in-portions.ts'

const DAY_MS = 86_400_000

export interface AnomalyRetentionDeps extends PortionDeps {
  readonly store: Pick<SearchStore, 'listIndices' | 'search' | 'deleteByQuery'>
}

/**
 * Deletes anomalies that happened, and were stored, longer than `retentionDays` ago: in portions, the oldest first. An index that fails keeps
 * none of the others. Incidents stay.
 */
export async function deleteExpiredAnomalies(deps: AnomalyRetentionDeps, retentionDays: number): Promise<Deletions> {
  const { store, clock } = deps
  const before = new Date(clock.nowMs() - retentionDays * DAY_MS).toISOString()
  return deleteOldestInPortions(await store.listIndices(ALL_ANOMALIES), deps, index => deletePortion(deps, index, before))
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
