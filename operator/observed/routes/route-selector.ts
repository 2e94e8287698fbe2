/** Which TicketingRoutes a pipeline selects. */
import type { LogPipeline } from '../../api/log-pipeline.ts'
import type { TicketingRoute } from '../../api/ticketing-route.ts'
import { byAge } from '../by-age.ts'
import { selects } from '../label-selector.ts'

/** Routes of a pipeline, the oldest first; those that are switched off do not count. */
export function selectedRoutes(pipeline: LogPipeline, routes: readonly TicketingRoute[]): readonly TicketingRoute[] {
  return routes.filter(route => route.spec.enabled && isSelected(pipeline, route)).toSorted(byAge)
}

export function isSelected({ spec }: LogPipeline, route: TicketingRoute): boolean {
  return selects(spec.ticketing?.routeSelector ?? {}, route.metadata.labels)
}
