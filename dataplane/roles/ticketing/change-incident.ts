/** Takes an incident from one state to another, at most once however many ask at the same time (Spec: Incident status; Decisions 6). */

import type { TargetId } from '../../contract/target-id.ts'
import type { AuditEntry } from '../../domain/incidents/audit-entry.ts'
import { type AuditNote, auditDetails, buildAuditEntry } from '../../domain/incidents/audit-entry.ts'
import { type IncidentAction, transition } from '../../domain/incidents/incident-status.ts'
import type { StoredIncident } from '../../domain/incidents/stored-incident.ts'
import type { EscalationPlan } from '../../domain/tickets/escalation.ts'
import { oweChange } from '../../domain/tickets/incident-tickets.ts'
import { readStoredIncident } from '../../pipeline/incident-of.ts'
import { writeAuditEntry } from '../../pipeline/sinks/incidents/audit-trail.ts'
import type { Clock } from '../../ports/clock.ts'
import { type SearchStore, SearchStoreUnavailable, VersionConflict } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'
import type { ChangingCall, OverlappingCalls } from './overlapping-calls.ts'

/** Names the targets that an escalation goes to; they are stored with the change as `escalatedTo`. */
export type PlanEscalation = (incident: StoredIncident) => Promise<EscalationPlan>

/** The actor of a change, and the reason. */
export interface ChangeNote extends AuditNote {
  /** A target whose webhook told of it: it is not told back. */
  readonly fromTarget?: TargetId
}

export interface ChangeDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
  readonly planEscalation: PlanEscalation
  readonly calls: OverlappingCalls
  /** Called after each change: targets are to be told. */
  readonly onChanged?: () => void
}

export type ChangeOutcome =
  | { readonly kind: 'changed'; readonly incident: StoredIncident; readonly timeField: keyof StoredIncident }
  /** Not from the state it is in, or somebody else was first. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' }

/** The bridge folds anomalies into an incident meanwhile; that may overtake a change, but hardly this often. */
const MAX_ATTEMPTS = 20

/** A change that is asked for. */
export interface ChangeRequest {
  readonly id: string
  readonly action: IncidentAction
  readonly note: ChangeNote
}

/** One change, as listings show it at once. `locate` names the index of the incident: the call is under way while it is looked for. */
export function changeIncident(deps: ChangeDeps, request: ChangeRequest, locate: () => Promise<string>): Promise<ChangeOutcome> {
  return deps.calls.run(request.id, async call => {
    const index = await locate()
    const outcome = await change(deps, request, index, call)
    if (outcome.kind === 'changed') await showChanges(deps, [index])
    return outcome
  })
}

/** One change of many: follow them with `showChanges`. */
export function changeUnshown(deps: ChangeDeps, request: ChangeRequest, index: string): Promise<ChangeOutcome> {
  return deps.calls.run(request.id, call => change(deps, request, index, call))
}

async function change(deps: ChangeDeps, { id, action, note }: ChangeRequest, index: string, call: ChangingCall): Promise<ChangeOutcome> {
  const { store } = deps
  const first = await readStoredIncident(store, index, id)
  let current = first
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (first === undefined || current === undefined) return { kind: 'unknown' }
    if (isOvertaken(first.source, current.source))
      return { kind: 'refused', reason: `somebody else changed it in the same moment: it is now ${current.source.status}` }
    if (call.isOvertaken) return { kind: 'refused', reason: 'somebody else changed it in the same moment' }
    const outcome = transition(current.source.status, action)
    if (outcome.kind === 'illegal') return { kind: 'refused', reason: outcome.reason }
    const incident = await buildChange(deps, current.source, action, note)
    // The entry of the change before is about to lose its place in the incident: see that it stands in the audit index.
    if (current.source.lastChange !== undefined) await writeAuditEntry(store, incident.tenantId, current.source.lastChange)
    try {
      await store.put(index, id, incident, current)
      call.won()
      await tryLater(deps, incident.id, () => writeAuditEntry(store, incident.tenantId, incident.lastChange))
      deps.onChanged?.()
      return { kind: 'changed', incident, timeField: outcome.timeField }
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error
      current = await readStoredIncident(store, index, id)
    }
  }
  return { kind: 'refused', reason: 'it changes too fast just now, try again' }
}

/** Whether a state change, not just another anomaly, came in between. */
function isOvertaken(before: StoredIncident, now: StoredIncident): boolean {
  return before.status !== now.status || before.lastChange?.timestamp !== now.lastChange?.timestamp
}

async function buildChange(
  { clock, planEscalation }: ChangeDeps,
  incident: StoredIncident,
  action: IncidentAction,
  note: ChangeNote,
): Promise<StoredIncident & { readonly lastChange: AuditEntry }> {
  const timestamp = new Date(Math.max(clock.nowMs(), timeAfter(incident.lastChange?.timestamp))).toISOString()
  const lastChange = buildAuditEntry(incident.id, action, timestamp, auditDetails(action, note))
  const escalation = action === 'escalate' ? await planEscalation(incident) : undefined
  // In one step with the change, so that no target misses it.
  const owing = oweChange(incident, { ...note, action, at: timestamp, ...(escalation !== undefined && { escalation }) })
  const changed = { ...owing, updatedAt: timestamp, lastChange }
  switch (action) {
    case 'acknowledge':
      return { ...changed, status: 'acknowledged', acknowledgedAt: timestamp }
    case 'resolve':
      return { ...changed, status: 'resolved', resolvedAt: timestamp }
    case 'escalate':
      return { ...changed, status: 'escalated', escalatedAt: timestamp, escalatedTo: escalation?.targets ?? [] }
    case 'reopen': {
      const { acknowledgedAt: _a, resolvedAt: _r, escalatedAt: _e, escalatedTo: _t, ...open } = changed
      return { ...open, status: 'open', reopenedAt: timestamp }
    }
  }
}

/** Times of state changes grow, so that their entries have an order and distinct ids. */
function timeAfter(timestamp: string | undefined): number {
  return timestamp === undefined ? 0 : Date.parse(timestamp) + 1
}

/** Makes changes visible in listings; the caller sees its own at once. */
export function showChanges(deps: ChangeDeps, indices: readonly string[]): Promise<void> {
  const index = indices.join(',')
  return index === '' ? Promise.resolve() : tryLater(deps, index, () => deps.store.refresh(index))
}

/** The change is stored and counts; what fails after it is made up for by the next reader. */
async function tryLater({ log }: ChangeDeps, what: string, task: () => Promise<void>): Promise<void> {
  try {
    await task()
  } catch (error) {
    if (!(error instanceof SearchStoreUnavailable)) throw error
    log.warn({ error, what }, 'state change stored, but its audit entry or its place in the list must wait')
  }
}
