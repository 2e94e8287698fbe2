/** Puts words of a person into the audit trail of an incident and on its tickets; nothing of the incident changes (Decisions 6). */
import { type AuditNote, auditDetails, buildAuditEntry } from '../../domain/incidents/audit-entry.ts'
import type { StoredIncident } from '../../domain/incidents/stored-incident.ts'
import { oweComment } from '../../domain/tickets/incident-tickets.ts'
import { readStoredIncident } from '../../pipeline/incident-of.ts'
import { writeAuditEntry } from '../../pipeline/sinks/incidents/audit-trail.ts'
import { retryOnConflict } from '../../ports/retry-on-conflict.ts'
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

/** An incident that changes too fast keeps its tickets from the words: these stand in the audit trail already, and a caller that is refused would say them twice. */
async function tellTickets({ store, log, onChanged }: ChangeDeps, index: string, { id, note }: Comment, at: string): Promise<void> {
  const isOwing = await retryOnConflict(async () => {
    const current = await readStoredIncident(store, index, id)
    if (current === undefined) return false
    const owing = oweComment(current.source, { ...note, at })
    if (owing === current.source) return false
    await store.put(index, id, owing, current)
    return true
  }).catch(error => {
    if (!(error instanceof VersionConflict)) throw error
    log.warn({ incident: id }, 'a comment stands in the audit trail alone, as its incident changes too fast to note it for the tickets')
    return false
  })
  if (isOwing) onChanged?.()
}
