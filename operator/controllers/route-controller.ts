/** Tells the status of one `TicketingRoute`. */

import { nameOfKey } from '../../dataplane/kube/resource.ts'
import type { Clock } from '../../dataplane/ports/clock.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import { invalidRouteStatus } from '../observed/invalid-status.ts'
import { routeReference } from '../observed/references.ts'
import { routeStatus } from '../observed/route-status.ts'
import { failedBy, type ReconcileOutcome } from '../runtime/controller.ts'
import { type ClusterView, gatherReferred } from './gather.ts'
import { LOG_PIPELINES, TICKETING_ROUTES } from './kinds.ts'
import type { SecretContents } from './secret-contents.ts'
import { type StatusDeps, tellStatus, timestamp } from './tell-status.ts'

export interface RouteControllerDeps extends StatusDeps {
  readonly view: ClusterView
  readonly secrets: SecretContents
  readonly clock: Clock
}

export function createRouteReconcile(deps: RouteControllerDeps) {
  const { view, secrets, clock } = deps
  const { cache } = view
  return async (key: string): Promise<ReconcileOutcome> => {
    const { namespace, name } = nameOfKey(key)
    const route = cache.get(TICKETING_ROUTES, namespace, name) as TicketingRoute | undefined
    if (route === undefined || route.metadata.deletionTimestamp !== undefined) {
      secrets.forget(`${TICKETING_ROUTES.kind} ${key}`)
      return { kind: 'settled' }
    }
    const read = await gatherReferred(view, secrets, route, () => [routeReference(route.spec)])
    const pipelines = (cache.list(LOG_PIPELINES, namespace) as readonly LogPipeline[]).filter(({ problems }) => problems === undefined)
    const now = timestamp(clock.nowMs())
    // Counts of the agents stay until the agents are asked again.
    const { dispatched, failed, lastDispatchTime } = route.status ?? {}
    const counted = Object.entries({ dispatched, failed, lastDispatchTime }).filter(([, value]) => value !== undefined)
    const dispatches = Object.fromEntries(counted)
    const status =
      route.problems === undefined ? routeStatus({ route, pipelines, read, dispatches, now }) : invalidRouteStatus(route, dispatches, now)
    const written = await tellStatus(deps, TICKETING_ROUTES, route, status)
    if (!written.ok) return written.failure.status === 404 ? { kind: 'settled' } : failedBy(written.failure)
    return read.failure === undefined ? { kind: 'settled' } : failedBy(read.failure)
  }
}
