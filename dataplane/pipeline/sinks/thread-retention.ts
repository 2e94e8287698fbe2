/** Deletes the outbox of incidents that were resolved long ago, in portions. */
import { ALL_DISPATCHES, incidentsIndex } from '../../contract/indices.ts'
import type { Incident } from '../../domain/incidents/incident-fields.ts'
import type { TicketThread } from '../../domain/tickets/ticket-thread.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SearchStore } from '../../ports/search-store.ts'

const DAY_MS = 86_400_000
/** Threads looked at in one request, and requests for one index in a turn. The next turn deletes the rest. */
const PORTION = 500
const MAX_PORTIONS = 100
/** Between two portions, for other work of the store. */
const PAUSE_MS = 200

export interface ThreadRetentionDeps {
  readonly store: Pick<SearchStore, 'listIndices' | 'search' | 'getMany' | 'deleteByQuery'>
  readonly clock: Clock
  /** Ends it between two portions. */
  readonly signal: AbortSignal
}

export interface ThreadRetentionResult {
  readonly deleted: number
  readonly failed: readonly { readonly name: string; readonly error: unknown }[]
}

type Position = readonly (string | number)[]

/**
 * Deletes threads that nothing happened to for longer than `retentionDays` when their incident was resolved longer ago than that, too, or is not there
 * any more; never one with a row that waits. An index that fails keeps none of the others.
 */
export async function deleteFinishedThreads(deps: ThreadRetentionDeps, retentionDays: number): Promise<ThreadRetentionResult> {
  const { store, clock, signal } = deps
  const before = new Date(clock.nowMs() - retentionDays * DAY_MS).toISOString()
  let deleted = 0
  const failed: { name: string; error: unknown }[] = []
  for (const name of await store.listIndices(ALL_DISPATCHES)) {
    try {
      let position: Position | undefined
      for (let portion = 0; portion < MAX_PORTIONS && !signal.aborted; portion++) {
        const found = await deletePortion(deps, name, before, position)
        deleted += found.deleted
        position = found.next
        if (position === undefined) break
        await clock.sleep(PAUSE_MS, signal)
      }
    } catch (error) {
      failed.push({ name, error })
    }
  }
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
