/** The targets that an escalation tells (Spec: Events; Decisions 6). */
import { SEVERITIES, type Severity } from '../../contract/platforms.ts'
import type { TargetId } from '../../contract/target-id.ts'
import type { StateChange } from './outbox-row.ts'
import { type RoutedIncident, type RoutingRules, routeEscalation, routeIncident } from './routing.ts'
import type { TicketEvent } from './ticket-event.ts'

export interface EscalationPlan {
  /** The targets of the escalation: `escalatedTo`. */
  readonly targets: readonly TargetId[]
  /** Targets of the escalation that have no ticket so far. */
  readonly fresh: readonly TargetId[]
  /** The severity that the targets are told. */
  readonly severity: Severity
}

/**
 * Targets routed for the next severity up and not notified yet, and declared ones for escalations of the incident's own severity; where there are
 * none, the incident's own at critical.
 */
export function planEscalation(rules: RoutingRules, incident: RoutedIncident, notified: readonly TargetId[]): EscalationPlan {
  const above = severityAbove(incident.severity)
  const declared = rules.declaredRoutes.filter(({ escalation }) => escalation)
  const higher = [
    ...(above === incident.severity ? [] : routeEscalation(rules, incident, above)),
    ...routeEscalation({ ...rules, routing: NO_ROUTING, declaredRoutes: declared }, incident, incident.severity),
  ]
  const fresh = [...new Set(higher)].filter(id => !notified.includes(id))
  if (fresh.length > 0) return { targets: fresh, fresh, severity: above }
  // Nobody was told: its own are those that it is routed to by now.
  const own = notified.length === 0 ? routeIncident(rules, incident) : []
  if (own.length > 0) return { targets: own, fresh: own, severity: 'critical' }
  return { targets: notified.filter(id => rules.targets.get(id)?.enabled === true), fresh: [], severity: 'critical' }
}

/** Whether an event asks for help. Of openings those that tell a change: a target without a ticket is told of an escalation by one. */
export function asksForHelp(event: TicketEvent, change: StateChange | undefined): boolean {
  return event === 'escalate' || (event === 'open' && change !== undefined)
}

const NO_ROUTING = { critical: [], high: [], medium: [], low: [] } as const

/** `critical` has none above itself. */
function severityAbove(severity: Severity): Severity {
  return SEVERITIES[Math.max(0, SEVERITIES.indexOf(severity) - 1)] ?? severity
}
