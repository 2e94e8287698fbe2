/** Tells the status of one `TicketingRoute`. */

import { keyOf, nameOfKey } from '../../dataplane/kube/resource.ts'
import { type Clock, monotonicMs } from '../../dataplane/ports/clock.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import { invalidRouteStatus } from '../observed/invalid-status.ts'
import { routeReferences } from '../observed/references.ts'
import { routeStatus } from '../observed/routes/route-status.ts'
import { hasStatus } from '../reconcile/write-status.ts'
import { failedBy, type ReconcileOutcome } from '../runtime/controller.ts'
import { type ClusterView, gatherReferred, LISTING_MS } from './gather.ts'
import { LOG_PIPELINES, PODS, TICKETING_ROUTES } from './kinds.ts'
import type { SecretContents } from './secret-contents.ts'
import { createStatusPace, ROUTE_SUMMARY } from './status-pace.ts'
import { type StatusDeps, tellStatus, timestamp } from './tell-status.ts'
import type { TicketCounts } from './ticket-counts.ts'

export interface RouteControllerDeps extends StatusDeps {
  readonly view: ClusterView
  readonly secrets: SecretContents
  readonly ticketCounts: Pick<TicketCounts, 'of'>
  readonly clock: Clock
}

export function createRouteReconcile(deps: RouteControllerDeps) {
  const { view, secrets, ticketCounts, clock } = deps
  const { cache } = view
  const pace = createStatusPace(ROUTE_SUMMARY)
  return async (key: string): Promise<ReconcileOutcome> => {
    const { namespace, name } = nameOfKey(key)
    const route = cache.get(TICKETING_ROUTES, namespace, name) as TicketingRoute | undefined
    if (route === undefined || route.metadata.deletionTimestamp !== undefined) {
      secrets.forget(`${TICKETING_ROUTES.kind} ${key}`)
      pace.forget(key)
      return { kind: 'settled' }
    }
    if (!cache.hasListed(namespace)) return { kind: 'again', afterMs: LISTING_MS }
    const read = await gatherReferred(view, secrets, route, () => routeReferences(route.spec))
    const pipelines = (cache.list(LOG_PIPELINES, namespace) as readonly LogPipeline[]).filter(({ problems }) => problems === undefined)
    const now = timestamp(clock.nowMs())
    const inNamespace = (other: string) => ({ ...(namespace !== undefined && { namespace }), name: other })
    const agentsOf = (pipeline: string) => ticketCounts.of(keyOf(inNamespace(pipeline)))
    const isThere = (pod: string) => cache.get(PODS, namespace, pod) !== undefined
    // Secrets were read meanwhile: counts must be added to those that are written last.
    const latest = (cache.get(TICKETING_ROUTES, namespace, name) as TicketingRoute | undefined) ?? route
    if (latest.metadata.generation !== route.metadata.generation) return { kind: 'again', afterMs: 0 }
    const status =
      latest.problems === undefined
        ? routeStatus({ route: latest, pipelines, read, agentsOf, isThere, now })
        : invalidRouteStatus(latest, now)
    const waitMs = read.failure === undefined ? pace.waitMs(key, latest.status, status, monotonicMs(clock)) : 0
    if (waitMs > 0 && !hasStatus(latest, status)) return { kind: 'again', afterMs: waitMs }
    const written = await tellStatus(deps, TICKETING_ROUTES, latest, status)
    if (written.ok && written.value !== undefined) pace.noteWritten(key, latest.status, status, monotonicMs(clock))
    if (!written.ok) return written.failure.status === 404 ? { kind: 'settled' } : failedBy(written.failure)
    return read.failure === undefined ? { kind: 'settled' } : failedBy(read.failure)
  }
}
