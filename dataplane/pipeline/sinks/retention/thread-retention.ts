/** Deletes the outbox of incidents that were resolved long ago, in portions. */
import { ALL_DISPATCHES, incidentsIndex } from '../../../contract/indices.ts'
import type { Incident } from '../../../domain/incidents/incident-fields.ts'
import type { TicketThread } from '../../../domain/tickets/ticket-thread.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { type Deletions, deleteInPortions, PORTION, type PortionDeps } from './delete-in-portions.ts'

const DAY_MS = 86_400_000

export interface ThreadRetentionDeps extends PortionDeps {
  readonly store: Pick<SearchStore, 'listIndices' | 'search' | 'getMany' | 'deleteByQuery'>
}

type Position = readonly (string | number)[]

/**
 * Deletes threads that nothing happened to for longer than `retentionDays` when their incident was resolved longer ago than that, too, or is not there
 * any more; never one with a row that waits. An index that fails keeps none of the others.
 */
export async function deleteFinishedThreads(deps: ThreadRetentionDeps, retentionDays: number): Promise<Omit<Deletions, 'isUnfinished'>> {
  const { store, clock } = deps
  const before = new Date(clock.nowMs() - retentionDays * DAY_MS).toISOString()
  const indices = await store.listIndices(ALL_DISPATCHES)
  const { deleted, failed } = await deleteInPortions<Position>(indices, deps, (index, after) => deletePortion(deps, index, before, after))
  return { deleted, failed }
}

async function deletePortion(
  { store }: ThreadRetentionDeps,
  index: string,
  before: string,
  after: Position | undefined,
): Promise<{ readonly deleted: number; readonly next: Position | undefined }> {
  const old = [{ term: { state: 'settled' } }, { range: { updatedAt: { lt: before } } }]
  const { hits } = await store.search<Pick<TicketThread, 'tenantId' | 'incidentId'>>({
    index,
    body: {
      size: PORTION,
      track_total_hits: false,
      _source: ['tenantId', 'incidentId', 'updatedAt', 'platform'],
      query: { bool: { filter: old } },
      sort: ['updatedAt', 'incidentId', 'platform'].map(field => ({ [field]: { order: 'asc' } })),
      ...(after !== undefined && { search_after: after }),
    },
  })
  const finished: string[] = []
  for (const [tenant, own] of Map.groupBy(hits, ({ source }) => source.tenantId)) {
    const ids = [...new Set(own.map(({ source }) => source.incidentId))]
    const incidents = await store.getMany<Incident>(incidentsIndex(tenant), ids, ['status', 'resolvedAt', 'updatedAt'])
    for (const { id, source } of own) if (isOver(incidents.get(source.incidentId)?.source, before)) finished.push(id)
  }
  const deleted =
    finished.length === 0 ? 0 : await store.deleteByQuery(index, { bool: { filter: [{ ids: { values: finished } }, ...old] } }, PORTION)
  return { deleted, next: hits.length < PORTION ? undefined : hits.at(-1)?.sort }
}

function isOver(incident: Pick<Incident, 'status' | 'resolvedAt' | 'updatedAt'> | undefined, before: string): boolean {
  if (incident === undefined) return true
  return incident.status === 'resolved' && (incident.resolvedAt ?? incident.updatedAt) < before
}
