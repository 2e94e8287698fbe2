import { createUuid5, URL_NAMESPACE } from '../../hash/uuid5.ts'
import type { IncidentAction } from './incident-status.ts'

/** Spec: Audit entry. */
export interface AuditEntry {
  readonly incident_id: string
  /** The specification's; `commented`: words of a person, which change nothing; `dispatch_failed`: a target was not told. */
  readonly action: 'created' | 'acknowledged' | 'escalated' | 'resolved' | 'reopened' | 'commented' | 'dispatch_failed'
  readonly timestamp: string
  readonly details: string
}

/** The entry that each action leaves (Spec: Audit entry). */
const AUDIT_ACTION = {
  create: 'created',
  acknowledge: 'acknowledged',
  escalate: 'escalated',
  resolve: 'resolved',
  reopen: 'reopened',
  comment: 'commented',
  dispatch: 'dispatch_failed',
} as const satisfies Record<IncidentAction | 'create' | 'comment' | 'dispatch', AuditEntry['action']>

/** The actor and the reason, as far as the caller named them. */
export interface AuditNote {
  readonly actor?: string
  readonly note?: string
}

export function buildAuditEntry(incidentId: string, action: keyof typeof AUDIT_ACTION, timestamp: string, details: string): AuditEntry {
  return { incident_id: incidentId, action: AUDIT_ACTION[action], timestamp, details }
}

/** `details` of a state change or a comment: what happened, by whom, with the note (Decisions 6). */
export function auditDetails(action: IncidentAction | 'comment', { actor, note }: AuditNote): string {
  const by = actor === undefined || actor === '' ? '' : ` by ${actor}`
  return `${AUDIT_ACTION[action]}${by}${note === undefined || note === '' ? '' : `: ${note}`}`
}

const uuid = createUuid5(createUuid5(URL_NAMESPACE)('https://logpipeline.dev/audit'))

/** Times of state changes differ; several dispatches may fail at once, and several people write. */
const MAY_COINCIDE: ReadonlySet<AuditEntry['action']> = new Set(['commented', 'dispatch_failed'])

/** The id an entry is stored under: writing the same entry again changes nothing. */
export function auditEntryId({ incident_id, action, timestamp, details }: AuditEntry): string {
  return uuid(`${incident_id}:${action}:${timestamp}${MAY_COINCIDE.has(action) ? `:${details}` : ''}`)
}
