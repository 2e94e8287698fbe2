/** Which TicketingRoutes count for a pipeline, and where they lead. */
import type { TargetId } from '../../../dataplane/contract/target-id.ts'
import type { LogPipeline } from '../../api/log-pipeline.ts'
import type { TicketingRoute } from '../../api/ticketing-route.ts'
import type { RoutesRead } from '../gathered.ts'
import { type RouteCredentials, resolveRoute } from './route-credentials.ts'
import { routesWithRoom } from './route-room.ts'
import { selectedRoutes } from './route-selector.ts'
import { checkSettings } from './route-settings.ts'
import { assignTargets } from './route-targets.ts'

export interface SelectedRoute {
  readonly route: TicketingRoute
  readonly credentials: RouteCredentials
  /** Undefined: the namespace or the pipeline has too many, or the route has settings that are no good. */
  readonly target: TargetId | undefined
}

/** Routes of a pipeline, the oldest first; those that are switched off do not count. */
export function selectRoutes(pipeline: LogPipeline, read: RoutesRead): readonly SelectedRoute[] {
  const targets = assignTargets(read.routes)
  const withRoom = routesWithRoom(pipeline, read.routes)
  return selectedRoutes(pipeline, read.routes).map(route => {
    const { name } = route.metadata
    const isGood = withRoom.has(name) && checkSettings(route) === undefined
    return { route, credentials: resolveRoute(route, read), target: isGood ? targets.get(name) : undefined }
  })
}
