/** Which TicketingRoutes count for a pipeline, and which of them contradict each other. */
import type { LabelSelector } from '../api/component-specs.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import type { Gathered } from './gathered.ts'
import { type ResolvedReference, resolveReference, routeReference } from './references.ts'

export interface SelectedRoute {
  readonly route: TicketingRoute
  readonly credentials: ResolvedReference
  /** The older route that says something else of the same platform. */
  readonly conflict?: TicketingRoute
}

type RoutesRead = Pick<Gathered, 'routes' | 'secrets' | 'externalSecrets' | 'servedApis'>

/** Routes of a pipeline, the oldest first; those that are switched off do not count. */
export function selectRoutes(pipeline: LogPipeline, read: RoutesRead): readonly SelectedRoute[] {
  const selected = read.routes.filter(route => route.spec.enabled && isSelected(pipeline, route)).sort(byAge)
  const firstOf = new Map<string, TicketingRoute>()
  return selected.map(route => {
    const credentials = resolveReference(routeReference(route.spec), read)
    const first = firstOf.get(route.spec.platform)
    if (first === undefined) firstOf.set(route.spec.platform, route)
    return first !== undefined && contradicts(first, route) ? { route, credentials, conflict: first } : { route, credentials }
  })
}

export function isSelected({ spec }: LogPipeline, route: TicketingRoute): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec.ticketing?.routeSelector ?? {}
  const labels = route.metadata.labels ?? {}
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value) && matchExpressions.every(rule => matches(rule, labels))
}

type Expression = NonNullable<LabelSelector['matchExpressions']>[number]

function matches({ key, operator, values = [] }: Expression, labels: Readonly<Record<string, string>>): boolean {
  const value = labels[key]
  switch (operator) {
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
  }
}

/** By time of creation, of equally old ones by name. */
function byAge(a: TicketingRoute, b: TicketingRoute): number {
  const [left, right] = [a, b].map(({ metadata: { creationTimestamp = '', name } }) => `${creationTimestamp} ${name}`) as [string, string]
  return left < right ? -1 : Number(left > right)
}

/** A platform is configured once: settings and credentials of its routes have to be the same. */
function contradicts(a: TicketingRoute, b: TicketingRoute): boolean {
  const said = ({ spec: { settings = {}, credentials } }: TicketingRoute) =>
    JSON.stringify([sorted(settings), credentials.secret?.name, credentials.externalSecret?.name, sorted(credentials.keys ?? {})])
  return said(a) !== said(b)
}

const sorted = (map: object) => Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1))
