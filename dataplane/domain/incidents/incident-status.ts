export const INCIDENT_STATUSES = ['open', 'acknowledged', 'escalated', 'resolved'] as const
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number]

interface Transition {
  readonly from: readonly IncidentStatus[]
  readonly to: IncidentStatus
  /** The field that takes the time of the change. */
  readonly timeField: 'acknowledgedAt' | 'resolvedAt' | 'escalatedAt' | 'reopenedAt'
}

/** Spec: Incident status; source states by Decisions 6. */
const TRANSITIONS = {
  acknowledge: { from: ['open'], to: 'acknowledged', timeField: 'acknowledgedAt' },
  resolve: { from: ['open', 'acknowledged', 'escalated'], to: 'resolved', timeField: 'resolvedAt' },
  escalate: { from: ['open', 'acknowledged'], to: 'escalated', timeField: 'escalatedAt' },
  reopen: { from: ['acknowledged', 'escalated', 'resolved'], to: 'open', timeField: 'reopenedAt' },
} as const satisfies Record<string, Transition>

export type IncidentAction = keyof typeof TRANSITIONS
export const INCIDENT_ACTIONS = Object.keys(TRANSITIONS) as readonly IncidentAction[]

export type TransitionOutcome =
  | { readonly kind: 'changed'; readonly to: IncidentStatus; readonly timeField: Transition['timeField'] }
  | { readonly kind: 'illegal'; readonly reason: string }

/** Whether an action may be done to an incident of that status, and what it makes of it. */
export function transition(status: IncidentStatus, action: IncidentAction): TransitionOutcome {
  const { from, to, timeField }: Transition = TRANSITIONS[action]
  if (from.includes(status)) return { kind: 'changed', to, timeField }
  return { kind: 'illegal', reason: `cannot ${action} an incident that is ${status}: it must be ${from.join(' or ')}` }
}
