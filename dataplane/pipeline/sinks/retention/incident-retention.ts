/** Deletes incidents that were resolved long ago, with their audit entries, in portions. */
import { ALL_INCIDENTS, auditIndex } from '../../../contract/indices.ts'
import type { Incident } from '../../../domain/incidents/incident-fields.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { type Deletions, deleteOldestInPortions, PORTION, type PortionDeps } from './delete-in-portions.ts'

const DAY_MS = 86_400_000

export interface IncidentRetentionDeps extends PortionDeps {
  readonly store: Pick<SearchStore, 'listIndices' | 'search' | 'deleteByQuery'>
}

/**
 * Deletes incidents that were resolved, and to which nothing has happened, for longer than `retentionDays`; those that nobody resolved stay. Audit entries
 * go first: where it ends in between, the incident leads the next turn to those that are left. An index that fails keeps none of the others.
 */
export async function deleteOldIncidents(deps: IncidentRetentionDeps, retentionDays: number): Promise<Deletions> {
  const { store, clock } = deps
  const before = new Date(clock.nowMs() - retentionDays * DAY_MS).toISOString()
  return deleteOldestInPortions(await store.listIndices(ALL_INCIDENTS), deps, index => deletePortion(store, index, before))
}

async function deletePortion(store: IncidentRetentionDeps['store'], index: string, before: string): Promise<number> {
  const old = [{ term: { status: 'resolved' } }, ...['resolvedAt', 'updatedAt'].map(field => ({ range: { [field]: { lt: before } } }))]
  const { hits } = await store.search<Pick<Incident, 'tenantId'>>({
    index,
    body: {
      size: PORTION,
      track_total_hits: false,
      _source: ['tenantId'],
      query: { bool: { filter: old } },
      sort: [{ resolvedAt: { order: 'asc', unmapped_type: 'date' } }],
    },
  })
  for (const [tenant, own] of Map.groupBy(hits, ({ source }) => source.tenantId)) {
    const entries = { terms: { incident_id: own.map(({ id }) => id) } }
    while ((await store.deleteByQuery(auditIndex(tenant), entries, PORTION)) === PORTION);
  }
  if (hits.length === 0) return 0
  return store.deleteByQuery(index, { bool: { filter: [{ ids: { values: hits.map(({ id }) => id) } }, ...old] } }, PORTION)
}
