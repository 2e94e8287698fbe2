/** Which TicketingRoutes a pipeline selects. */
import type { LabelSelector } from '../api/component-specs.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import { byAge } from './by-age.ts'
import { ownOf } from './gathered.ts'

/** Routes of a pipeline, the oldest first; those that are switched off do not count. */
export function selectedRoutes(pipeline: LogPipeline, routes: readonly TicketingRoute[]): readonly TicketingRoute[] {
  return routes.filter(route => route.spec.enabled && isSelected(pipeline, route)).toSorted(byAge)
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
