/** One action on many incidents (Spec: POST /api/v1/incidents/batch; Decisions 6). */
import type { AuditNote } from '../../domain/incidents/audit-entry.ts'
import type { IncidentAction } from '../../domain/incidents/incident-status.ts'
import { SearchStoreUnavailable } from '../../ports/search-store.ts'
import { type ChangeDeps, changeUnshown, showChanges } from './change-incident.ts'
import { locateIncidents, type Place } from './incident-finder.ts'

export interface Skipped {
  readonly id: string
  readonly reason: string
}

export interface BatchResult {
  readonly updated: number
  readonly action: IncidentAction
  readonly ids: readonly string[]
  readonly skipped: readonly Skipped[]
}

export interface BatchRequest {
  readonly ids: readonly string[]
  readonly action: IncidentAction
  readonly note: AuditNote
  readonly tenant: string | undefined
}

const CONCURRENCY = 16

/** Applies the action where it is legal; every other id is named in `skipped` with its reason, in the order of the request. */
export async function changeIncidents(deps: ChangeDeps, { ids, action, note, tenant }: BatchRequest): Promise<BatchResult> {
  const distinct = [...new Set(ids)]
  const placeOf = await locateIncidents(deps.store, distinct, tenant)
  const reasons = await mapConcurrently(distinct, id => changeOne(deps, id, placeOf(id), action, note))
  const updated = distinct.filter((_, i) => reasons[i] === undefined)
  const places = updated.map(placeOf).filter(place => place.kind === 'found')
  await showChanges(deps, [...new Set(places.map(({ index }) => index))])
  const skipped = distinct.flatMap((id, i) => (reasons[i] === undefined ? [] : [{ id, reason: reasons[i] }]))
  return { updated: updated.length, action, ids: updated, skipped }
}

/** Why it was skipped; undefined when it was changed. */
async function changeOne(deps: ChangeDeps, id: string, place: Place, action: IncidentAction, note: AuditNote): Promise<string | undefined> {
  if (place.kind === 'unknown') return 'unknown incident'
  if (place.kind === 'foreign') return 'belongs to another tenant'
  try {
    const outcome = await changeUnshown(deps, { id, action, note }, place.index)
    if (outcome.kind === 'changed') return undefined
    return outcome.kind === 'unknown' ? 'unknown incident' : outcome.reason
  } catch (error) {
    if (error instanceof SearchStoreUnavailable) return error.forCallers
    throw error
  }
}

async function mapConcurrently<T, U>(items: readonly T[], map: (item: T) => Promise<U>): Promise<U[]> {
  const results: U[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const i = next++
      results[i] = await map(items[i]!)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  return results
}
