/** Puts words of a person into the audit trail of an incident and on its tickets; nothing of the incident changes (Decisions 6). */
import { type AuditNote, auditDetails, buildAuditEntry } from '../../domain/incidents/audit-entry.ts'
import type { StoredIncident } from '../../domain/incidents/stored-incident.ts'
import { oweComment } from '../../domain/tickets/incident-tickets.ts'
import { readStoredIncident } from '../../pipeline/incident-of.ts'
import { writeAuditEntry } from '../../pipeline/sinks/audit-trail.ts'
import { VersionConflict } from '../../ports/search-store.ts'
import type { ChangeDeps } from './change-incident.ts'

export interface Comment {
  readonly id: string
  readonly note: AuditNote
}

export interface Commented {
  readonly incident: StoredIncident
  readonly at: string
}

/** Anomalies and changes may overtake it, but hardly this often. */
const MAX_ATTEMPTS = 20

/** Undefined: there is no such incident. The words stand in the audit trail before anything is told, and so before the caller gets an answer. */
export async function commentIncident(deps: ChangeDeps, { id, note }: Comment, index: string): Promise<Commented | undefined> {
  const { store, clock } = deps
  const at = new Date(clock.nowMs()).toISOString()
  const stored = await readStoredIncident(store, index, id)
  if (stored === undefined) return undefined
  await writeAuditEntry(store, stored.source.tenantId, buildAuditEntry(id, 'comment', at, auditDetails('comment', note)))
  await tellTickets(deps, index, { id, note }, at)
  return { incident: stored.source, at }
}

async function tellTickets({ store, onChanged }: ChangeDeps, index: string, { id, note }: Comment, at: string): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const current = await readStoredIncident(store, index, id)
    if (current === undefined) return
    const owing = oweComment(current.source, { ...note, at })
    if (owing === current.source) return
    try {
      await store.put(index, id, owing, current)
      return onChanged?.()
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error
    }
  }
}
