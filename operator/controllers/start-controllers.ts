/** Builds both controllers with their queues, and connects the changes that set them off. */

import type { ObjectCache } from '../../dataplane/kube/informers/object-cache.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import { keyOf, type Resource } from '../../dataplane/kube/resource.ts'
import type { Clock } from '../../dataplane/ports/clock.ts'
import type { Log } from '../../dataplane/telemetry/log.ts'
import type { OperatorSettings } from '../desired/pipeline-context.ts'
import { createObjectReconciler } from '../reconcile/reconcile-objects.ts'
import { createController, type ReconcileOutcome } from '../runtime/controller.ts'
import type { EventRecorder } from '../runtime/event-recorder.ts'
import type { OperatorMetrics } from '../runtime/operator-metrics.ts'
import { WorkQueue } from '../runtime/work-queue.ts'
import { createBridgeHealth } from './bridge-health.ts'
import { LOG_PIPELINES, SECRETS, TICKETING_ROUTES } from './kinds.ts'
import { createPipelineReconcile } from './pipeline-controller.ts'
import { createRouteReconcile } from './route-controller.ts'
import { createSecretContents } from './secret-contents.ts'
import { createTicketCounts } from './ticket-counts.ts'
import { createToldStatuses } from './told-statuses.ts'
import { createTransitionEvents } from './transition-events.ts'
import { connectTriggers } from './triggers.ts'

export interface ControllersDeps {
  readonly client: KubeClient
  readonly cache: ObjectCache
  /** The optional kinds that the cluster has. */
  readonly served: () => readonly Resource[]
  readonly settings: OperatorSettings
  readonly recorder: Pick<EventRecorder, 'record'>
  readonly metrics: OperatorMetrics
  readonly clock: Clock
  readonly log: Log
  readonly random: () => number
  /** Whether the client could make a request just now. */
  readonly hasRoom: () => boolean
}

export interface Controllers {
  /** Looks at everything there is, and from then on at what changes. */
  start(): void
  /** Takes on nothing more; resolves when the work under way has ended. */
  stop(): Promise<void>
  /** Looks at every pipeline again. */
  lookAgain(): void
  /** The longest work under way. */
  longestMs(): number
}

/** Few workers are busy at a time, since all wait for the client's rate limit. */
const WORKERS = 16

/** Nothing runs before `start`. */
export function createControllers(deps: ControllersDeps): Controllers {
  const { cache, client, clock, metrics, settings } = deps
  const view = { cache, served: deps.served }
  const secrets = createSecretContents({ client, metadataOf: (namespace, name) => cache.get(SECRETS, namespace, name) })
  const told = createToldStatuses()
  const shared = {
    view,
    cache,
    client,
    secrets,
    clock,
    told,
    tell: createTransitionEvents(deps.recorder),
    onStatusWrite: (kind: string) => metrics.written('status', kind),
  }
  const reconcileObjects = createObjectReconciler({
    client,
    live: cache,
    clock,
    onWrite(verb, { kind, metadata: { namespace, name } }, why) {
      metrics.written(verb, kind)
      deps.log.debug({ kind, namespace, name }, `${verb}: ${why}`)
    },
  })
  const bridgeHealth = createBridgeHealth({ clock, lookAgain: (key, afterMs) => pipelines.queue.addAfter(key, afterMs) })
  const reconcilePipeline = createPipelineReconcile({ ...shared, reconcileObjects, settings, bridgeHealth })
  const pipelines = createWorkers(LOG_PIPELINES, reconcilePipeline, deps)
  const ticketCounts = createTicketCounts({ cache, clock, onNews: key => routes.queue.add(key) })
  const routes = createWorkers(TICKETING_ROUTES, createRouteReconcile({ ...shared, ticketCounts }), deps)
  let isActive = false
  connectTriggers({ view, cache, told, pipelines: pipelines.queue, routes: routes.queue, isActive: () => isActive })
  const all = [pipelines, routes]

  return {
    start() {
      isActive = true
      for (const { addAll, controller } of all) {
        addAll()
        controller.start()
      }
      ticketCounts.start()
    },
    async stop() {
      await Promise.all([ticketCounts.stop(), ...all.map(({ controller }) => controller.stop())])
    },
    lookAgain() {
      if (isActive) pipelines.addAll()
    },
    longestMs: () => Math.max(0, ...all.flatMap(({ queue }) => queue.workedMs())),
  }
}

function createWorkers(resource: Resource, reconcile: (key: string) => Promise<ReconcileOutcome>, deps: ControllersDeps) {
  const { clock, random, log, metrics, cache, hasRoom } = deps
  const name = resource.kind.toLowerCase()
  const { observer, attach } = metrics.queue(name)
  const queue = new WorkQueue({ clock, random, observer })
  attach(queue)
  const controller = createController(
    { name, workers: WORKERS, reconcile },
    { queue, clock, log, hasRoom, ...metrics.controller(name, WORKERS) },
  )
  const addAll = () => {
    for (const { metadata } of cache.list(resource)) queue.add(keyOf(metadata))
  }
  return { queue, controller, addAll }
}
