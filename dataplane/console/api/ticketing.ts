/** The ticketing agent (Spec: Ticketing): incidents, their audit trail and dispatches. Its configuration: `ticketing-config.ts`. */
import { request, requestWithHeaders } from './request.ts'

export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const
export type Severity = (typeof SEVERITIES)[number]
export const STATUSES = ['open', 'acknowledged', 'escalated', 'resolved'] as const
export type IncidentStatus = (typeof STATUSES)[number]
export const ACTIONS = ['acknowledge', 'resolve', 'escalate', 'reopen'] as const
export type IncidentAction = (typeof ACTIONS)[number]

export interface Reason {
  readonly kind: string
  readonly text: string
  readonly patternId?: string
  readonly count?: number
  readonly expected?: number
  readonly logIds: readonly string[]
  readonly traceIds: readonly string[]
}

export interface Candidate {
  readonly service: string
  readonly score: number
  readonly reasons: readonly (Reason | string)[]
}

export interface RootCause {
  readonly mode: 'rules' | 'llm'
  readonly fallback: boolean
  readonly summary: string
  readonly candidates: readonly Candidate[]
}

export interface Evidence {
  readonly patternId: string
  readonly pattern: string
  readonly count: number
  readonly score: number
  readonly logIds: readonly string[]
  readonly traceIds: readonly string[]
}

export interface IncidentDispatch {
  readonly status: 'pending' | 'sent' | 'failed' | 'suppressed'
  readonly externalId?: string | null
  readonly url?: string | null
  readonly attempts?: number
  readonly lastError?: string | null
}

export interface Incident {
  readonly id: string
  readonly title: string
  readonly severity: Severity
  readonly status: IncidentStatus
  readonly service: string
  readonly anomalyScore: number
  readonly affectedServices: readonly string[]
  readonly traceId: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly platforms: readonly string[]
  readonly tenantId?: string
  readonly anomalyCount?: number
  readonly firstSeen?: string
  readonly lastSeen?: string
  readonly recurring?: boolean
  readonly evidence?: readonly Evidence[]
  readonly rootCause?: RootCause
  readonly dispatches?: Readonly<Record<string, IncidentDispatch>>
  readonly acknowledgedAt?: string
  readonly resolvedAt?: string
  readonly escalatedAt?: string
  readonly escalatedTo?: readonly string[]
}

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
  /** Of the page after; undefined: this is the last. */
  readonly nextCursor: string | undefined
}

const API = '/api/ticketing/api'

export async function listIncidents(filter: IncidentFilter = {}, signal?: AbortSignal): Promise<IncidentPage> {
  const { body, headers } = await requestWithHeaders<readonly Incident[]>(`${API}/incidents`, { query: { ...filter }, signal })
  return { incidents: body, nextCursor: headers.get('x-next-cursor') ?? undefined }
}

export function readIncident(id: string, signal?: AbortSignal): Promise<Incident> {
  return request(`${API}/incidents/${encodeURIComponent(id)}`, { signal })
}

export interface ChangeNote {
  readonly actor?: string
  readonly note?: string
}

export function changeIncident(id: string, action: IncidentAction, note: ChangeNote = {}): Promise<{ readonly status: IncidentStatus }> {
  return request(`${API}/incidents/${encodeURIComponent(id)}/${action}`, { method: 'POST', body: note })
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

export interface AuditEntry {
  readonly action: string
  readonly timestamp: string
  readonly details: string
}

export async function readAudit(incidentId: string, signal?: AbortSignal): Promise<readonly AuditEntry[]> {
  const { entries } = await request<{ entries: readonly AuditEntry[] }>(`${API}/v1/audit`, { query: { incident_id: incidentId }, signal })
  return entries
}

export interface Dispatch {
  readonly incidentId: string
  readonly platform: string
  readonly event: string
  readonly status: 'pending' | 'sent' | 'failed' | 'suppressed'
  readonly attempts: number
  readonly nextAttemptAt?: string | null
  readonly lastError?: string | null
  readonly externalId?: string | null
  readonly url?: string | null
}

export function listDispatches(incidentId: string, signal?: AbortSignal): Promise<readonly Dispatch[]> {
  return request(`${API}/v1/dispatches`, { query: { incident_id: incidentId }, signal })
}

export function retryDispatch(incidentId: string, platform: string): Promise<unknown> {
  return request(`${API}/v1/dispatches/retry`, { method: 'POST', body: { incidentId, platform } })
}

export interface IncidentStats {
  readonly incidents: number
  readonly bySeverity: Readonly<Record<string, number>>
  readonly byService: Readonly<Record<string, number>>
  readonly mttaSeconds: number | null
  readonly mttrSeconds: number | null
}

export function readStats(from: string, to: string, signal?: AbortSignal): Promise<IncidentStats> {
  return request(`${API}/v1/stats`, { query: { from, to }, signal })
}
