/** Which TicketingRoutes count for a pipeline, and where they lead. */
import type { TargetId } from '../../dataplane/contract/target-id.ts'
import type { LabelSelector } from '../api/component-specs.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import { byAge } from './by-age.ts'
import { ownOf, type RoutesRead } from './gathered.ts'
import type { ResolvedReference } from './resolve-reference.ts'
import { resolveRoute } from './route-credentials.ts'
import { assignTargets } from './route-targets.ts'

export interface SelectedRoute {
  readonly route: TicketingRoute
  readonly credentials: ResolvedReference
  /** Undefined: the namespace has too many. */
  readonly target: TargetId | undefined
}

/** Routes of a pipeline, the oldest first; those that are switched off do not count. */
export function selectRoutes(pipeline: LogPipeline, read: RoutesRead): readonly SelectedRoute[] {
  const targets = assignTargets(read.routes)
  const routes = read.routes.filter(route => route.spec.enabled && isSelected(pipeline, route)).toSorted(byAge)
  return routes.map(route => ({ route, credentials: resolveRoute(route, read), target: targets.get(route.metadata.name) }))
}

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
