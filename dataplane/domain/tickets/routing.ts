/** Which targets an incident goes to (Spec: Ticketing runtime configuration; Decisions 6). */
import type { Severity } from '../../contract/platforms.ts'
import type { TargetId } from '../../contract/target-id.ts'
import { listWords, shortenedList } from '../../text/listed.ts'
import type { Incident } from '../incidents/incident-fields.ts'
import { matchesService } from './service-glob.ts'
import type { Target } from './target.ts'

/** The part of a tenant's configuration that routing looks at. */
export interface RoutingRules {
  readonly targets: ReadonlyMap<TargetId, Pick<Target, 'enabled'>>
  /** Why others cannot be used at present: incidents are routed to them, and wait. */
  readonly unusable?: ReadonlyMap<TargetId, string>
  /** Counts for services that no route of `declaredRoutes` is for; routes that are for escalations alone do not replace it. */
  readonly routing: Readonly<Record<Severity, readonly TargetId[]>>
  readonly declaredRoutes: readonly {
    readonly platform: TargetId
    readonly severities: readonly Severity[]
    readonly services?: readonly string[]
    readonly escalation: boolean
  }[]
}

export type RoutedIncident = Pick<Incident, 'service' | 'affectedServices' | 'severity'>

/** Targets of a severity that are configured and switched on, each once, in the order of the configuration. */
export function routeIncident(rules: RoutingRules, incident: RoutedIncident, severity = incident.severity): readonly TargetId[] {
  return usable(rules, routedFor(rules, incident, severity, false))
}

/** Names in a reason. */
const MAX_NAMED = 10

/** Why an incident goes to no target, for people; undefined where it goes to one. */
export function whyNobody(rules: RoutingRules, incident: RoutedIncident): string | undefined {
  const ids = [...new Set(routedFor(rules, incident, incident.severity, false))]
  if (usable(rules, ids).length > 0) return undefined
  if (ids.length === 0) return `nothing is routed for severity ${incident.severity}`
  return listWords(
    shortenedList(
      ids.map(id => `${id} is ${rules.targets.has(id) ? 'switched off' : 'not configured'}`),
      MAX_NAMED,
    ),
  )
}

/** The same for an escalation: declared routes that are for escalations alone count as well. */
export function routeEscalation(rules: RoutingRules, incident: RoutedIncident, severity: Severity): readonly TargetId[] {
  return usable(rules, routedFor(rules, incident, severity, true))
}

function routedFor(rules: RoutingRules, incident: RoutedIncident, severity: Severity, isEscalation: boolean): readonly TargetId[] {
  const services = [incident.service, ...incident.affectedServices]
  const routes = rules.declaredRoutes.filter(({ severities, escalation }) => severities.includes(severity) && (isEscalation || !escalation))
  const usual = routes.filter(({ escalation }) => !escalation)
  const isDeclared = (service: string) => usual.some(route => isFor(route, service))
  const own = services.every(isDeclared) ? [] : (rules.routing[severity] ?? [])
  return [...own, ...routes.filter(route => services.some(service => isFor(route, service))).map(({ platform }) => platform)]
}

function isFor({ services }: RoutingRules['declaredRoutes'][number], service: string): boolean {
  return services === undefined || matchesService(services, service)
}

function usable({ targets, unusable }: RoutingRules, ids: readonly TargetId[]): readonly TargetId[] {
  return [...new Set(ids)].filter(id => targets.get(id)?.enabled === true || unusable?.has(id) === true)
}
