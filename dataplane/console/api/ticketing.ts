/** The ticketing agent (Spec: Ticketing): incidents, their audit trail and dispatches. Its configuration: `ticketing-config.ts`. */
import { MISSING_SHARDS_HEADER } from '../../contract/headers.ts'
import { SEVERITIES, type Severity } from '../../contract/platforms.ts'
import type { AuditEntry } from '../../domain/incidents/audit-entry.ts'
import type { Incident as AnyIncident, Evidence, IncidentDispatch, IncidentSteps } from '../../domain/incidents/incident-fields.ts'
import {
  INCIDENT_ACTIONS as ACTIONS,
  type IncidentAction,
  type IncidentStatus,
  INCIDENT_STATUSES as STATUSES,
} from '../../domain/incidents/incident-status.ts'
import type { Candidate, Reason, RootCause } from '../../domain/root-cause/root-cause.ts'
import type { TicketStatistics } from '../../domain/tickets/ticket-statistics.ts'
import type { ShownRow } from '../../domain/tickets/ticket-thread.ts'
import { noteAnswer } from './note-missing.ts'
import { request, requestWithHeaders } from './request.ts'

export type { AuditEntry, Candidate, Evidence, IncidentAction, IncidentDispatch, IncidentStatus, Reason, RootCause, Severity }
export { ACTIONS, SEVERITIES, STATUSES }

/** Some fields are always there for callers. */
export type Incident = AnyIncident & IncidentSteps & Required<Pick<AnyIncident, 'traceId' | 'recurring' | 'dispatches'>>

export interface IncidentFilter {
  readonly status?: IncidentStatus | undefined
  readonly severity?: Severity | undefined
  readonly service?: string | undefined
  readonly recurring?: boolean | undefined
  /** ISO-8601. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface IncidentPage {
  readonly incidents: readonly Incident[]
  /** The cursor of the next page; undefined: this is the last. */
  readonly nextCursor: string | undefined
}

const API = '/api/ticketing/api'

/** Those of a tenant; undefined: of that of the page. */
export async function listIncidents(filter: IncidentFilter = {}, signal?: AbortSignal, tenant?: string): Promise<IncidentPage> {
  const { body, headers } = await requestWithHeaders<readonly Incident[]>(`${API}/incidents`, { query: { ...filter }, signal, tenant })
  const missing = headers.get(MISSING_SHARDS_HEADER)?.split('/').map(Number)
  if (missing !== undefined) noteAnswer(signal, { timed_out: true, _shards: { failed: missing[0], total: missing[1] } })
  return { incidents: body, nextCursor: headers.get('x-next-cursor') ?? undefined }
}

export function readIncident(id: string, signal?: AbortSignal): Promise<Incident> {
  return request(`${API}/incidents/${encodeURIComponent(id)}`, { signal })
}

export interface ChangeNote {
  readonly actor?: string
  readonly note?: string
}

export interface ChangeAnswer {
  readonly status: IncidentStatus
  /** The targets of an escalation. */
  readonly escalatedTo?: readonly string[]
}

export function changeIncident(id: string, action: IncidentAction, note: ChangeNote = {}): Promise<ChangeAnswer> {
  return request(`${API}/incidents/${encodeURIComponent(id)}/${action}`, { method: 'POST', body: note })
}

/** Words for the timeline and the tickets, which change no state. */
export function commentIncident(id: string, note: ChangeNote): Promise<unknown> {
  return request(`${API}/incidents/${encodeURIComponent(id)}/comment`, { method: 'POST', body: note })
}

export interface BatchAnswer {
  readonly updated: number
  readonly action: IncidentAction
  readonly ids: readonly string[]
  readonly skipped?: readonly { readonly id: string; readonly reason: string }[]
}

export function changeIncidents(ids: readonly string[], action: IncidentAction, note: ChangeNote = {}): Promise<BatchAnswer> {
  return request(`${API}/v1/incidents/batch`, { method: 'POST', body: { ids, action, ...note } })
}

export async function readAudit(incidentId: string, signal?: AbortSignal): Promise<readonly AuditEntry[]> {
  const { entries } = await request<{ entries: readonly AuditEntry[] }>(`${API}/v1/audit`, { query: { incident_id: incidentId }, signal })
  return entries
}

/** Statistics over the incidents that were created in a time, ISO-8601, both ends included. */
export function readStatistics(period: { readonly from: string; readonly to: string }, signal?: AbortSignal): Promise<TicketStatistics> {
  return request(`${API}/v1/stats`, { query: { ...period }, signal })
}

/** A row of the outbox. */
export type Dispatch = ShownRow

export function listDispatches(incidentId: string, signal?: AbortSignal): Promise<readonly Dispatch[]> {
  return request(`${API}/v1/dispatches`, { query: { incident_id: incidentId }, signal })
}

export function retryDispatch(incidentId: string, platform: string): Promise<unknown> {
  return request(`${API}/v1/dispatches/retry`, { method: 'POST', body: { incidentId, platform } })
}
