/** Which TicketingRoutes count for a pipeline, and which of them contradict each other. */
import type { LabelSelector } from '../api/component-specs.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import { byAge } from './by-age.ts'
import { ownOf, type RoutesRead } from './gathered.ts'
import { routeReference } from './references.ts'
import { type ResolvedReference, resolveReference } from './resolve-reference.ts'

export interface SelectedRoute {
  readonly route: TicketingRoute
  readonly credentials: ResolvedReference
  /** The older route that says something else of the same platform. */
  readonly conflict?: TicketingRoute
}

/** Routes of a pipeline, the oldest first; those that are switched off do not count. */
export function selectRoutes(pipeline: LogPipeline, read: RoutesRead): readonly SelectedRoute[] {
  const routes = read.routes.filter(route => counts(pipeline, route)).sort(byAge)
  const firstOf = new Map<string, TicketingRoute>()
  return routes.map(route => {
    const credentials = resolveReference(routeReference(route.spec), read)
    const first = firstOf.get(route.spec.platform)
    if (first === undefined) firstOf.set(route.spec.platform, route)
    return first !== undefined && contradicts(first, route) ? { route, credentials, conflict: first } : { route, credentials }
  })
}

/** The older route that one contradicts in a pipeline, as `selectRoutes` would find it. */
export function findConflict(pipeline: LogPipeline, route: TicketingRoute, routes: readonly TicketingRoute[]): TicketingRoute | undefined {
  if (!counts(pipeline, route)) return undefined
  let first = route
  for (const other of routes)
    if (other.spec.platform === route.spec.platform && byAge(other, first) < 0 && counts(pipeline, other)) first = other
  return contradicts(first, route) ? first : undefined
}

const counts = (pipeline: LogPipeline, route: TicketingRoute) => route.spec.enabled && isSelected(pipeline, route)

export function isSelected({ spec }: LogPipeline, route: TicketingRoute): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec.ticketing?.routeSelector ?? {}
  const labels = route.metadata.labels ?? {}
  return (
    Object.entries(matchLabels).every(([key, value]) => ownOf(labels, key) === value) &&
    matchExpressions.every(rule => matches(rule, labels))
  )
}

type Expression = NonNullable<LabelSelector['matchExpressions']>[number]

function matches({ key, operator, values = [] }: Expression, labels: Readonly<Record<string, string>>): boolean {
  const value = ownOf(labels, key)
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

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b))

/** A platform is configured once: settings and credentials of its routes have to be the same. */
function contradicts(a: TicketingRoute, b: TicketingRoute): boolean {
  const said = ({ spec: { settings = {}, credentials } }: TicketingRoute) =>
    JSON.stringify([sorted(settings), credentials.secret?.name, credentials.externalSecret?.name, sorted(credentials.keys ?? {})])
  return said(a) !== said(b)
}

const sorted = (map: object) => Object.entries(map).sort(([a], [b]) => compare(a, b))
