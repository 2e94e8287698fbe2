/** Writes the incidents that grouping opens or extends. */
import { incidentsIndex } from '../../../contract/indices.ts'
import { buildAuditEntry } from '../../../domain/incidents/audit-entry.ts'
import type { GroupingChange } from '../../../domain/incidents/grouping.ts'
import { buildIncident, describeCreation, foldIntoIncident } from '../../../domain/incidents/incident.ts'
import type { StoredIncident } from '../../../domain/incidents/stored-incident.ts'
import { askAttention } from '../../../domain/tickets/ask-attention.ts'
import { keepBounded } from '../../../limits/keep-bounded.ts'
import type { Clock } from '../../../ports/clock.ts'
import { retryOnConflict } from '../../../ports/retry-on-conflict.ts'
import { type SearchStore, SearchStoreRefusal, type Version, VersionConflict } from '../../../ports/search-store.ts'
import { readStoredIncident } from '../../incident-of.ts'
import { writeAuditEntry } from './audit-trail.ts'
import type { Recurrence } from './recurrence.ts'

/** `created`: it is new; `written`: it was there; `resolved`: by a user, so it takes in no more. A refusal of the store is an outcome, too. */
export type IncidentWrite = 'created' | 'written' | 'resolved' | SearchStoreRefusal

export interface IncidentWriter {
  /** Writes a new incident; one that is there already was made by the same anomalies before a crash. */
  open(change: GroupingChange, isRecurring: boolean): Promise<IncidentWrite>
  /** Writes a change into its incident. */
  extend(change: GroupingChange): Promise<IncidentWrite>
}

export interface IncidentWriterDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly recurrence: Recurrence
}

/** Incidents that are kept as they were written last. */
const MAX_KEPT = 100

export function createIncidentWriter({ store, clock, recurrence }: IncidentWriterDeps): IncidentWriter {
  /** By index and id, the one that was written longest ago first. */
  const kept = new Map<string, KnownIncident>()
  const nowIso = () => new Date(clock.nowMs()).toISOString()

  /** The incident as it was written last, for the first attempt; where somebody else has changed it the write fails, and it is read. */
  const current = async (index: string, id: string, attempt: number): Promise<KnownIncident | undefined> => {
    const key = `${index}/${id}`
    const known = attempt === 0 ? kept.get(key) : undefined
    kept.delete(key)
    return known ?? (await readStoredIncident(store, index, id))
  }

  const keep = (index: string, id: string, incident: KnownIncident) => keepBounded(kept, `${index}/${id}`, incident, MAX_KEPT)

  return {
    open: (change, isRecurring) =>
      orRefusal(async () => {
        const incident = { ...buildIncident(change, nowIso()), recurring: isRecurring }
        const created = buildAuditEntry(incident.id, 'create', incident.createdAt, describeCreation(change))
        const stored: StoredIncident = { ...incident, lastChange: created }
        try {
          await store.put(incidentsIndex(change.tenant), incident.id, stored, { only: 'new' })
        } catch (error) {
          if (!(error instanceof VersionConflict)) throw error
          return 'written'
        }
        // The entry stands in the incident, and comes into the audit index with the next change that finds room there.
        await orRefusal(() => writeAuditEntry(store, change.tenant, created))
        return 'created'
      }),
    extend: change =>
      orRefusal(async () => {
        const index = incidentsIndex(change.tenant)
        const { incidentId } = change
        return retryOnConflict(async conflicts => {
          const stored = await current(index, incidentId, conflicts)
          if (stored === undefined || stored.source.status === 'resolved') return 'resolved'
          const hasEnded = stored.source.recurring === true && !(await recurrence.afterFold(stored.source, change))
          const folded = foldIntoIncident(stored.source, change, nowIso())
          const source = hasEnded ? askAttention(stored.source, { ...folded, recurring: false }, nowIso()) : folded
          keep(index, incidentId, { ...(await store.put(index, incidentId, source, stored)), source })
          return 'written'
        })
      }),
  }
}

type KnownIncident = Version & { readonly source: StoredIncident }

async function orRefusal<T>(write: () => Promise<T>): Promise<T | SearchStoreRefusal> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof SearchStoreRefusal) return error
    throw error
  }
}
