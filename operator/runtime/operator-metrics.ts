/** The operator's metrics: controller-runtime's and client-go's under their own names, so that published dashboards and alert rules fit, and `logpipeline_operator_*`. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { ControllerDeps } from './controller.ts'
import type { QueueObserver, WorkQueue } from './work-queue.ts'

export interface OperatorMetrics {
  text(): Promise<string>
  readonly contentType: string
  /** The observer of a queue. `attach` adds the queue whose depth is read at each scrape. */
  queue(controller: string): { readonly observer: QueueObserver; attach(queue: WorkQueue): void }
  controller(name: string, workers: number): Required<Pick<ControllerDeps, 'onReconcile' | 'onActive'>>
  request(verb: string, host: string, status: number, durationMs: number): void
  leads(name: string, leads: boolean): void
  watchRestarted(resource: string, reason: string): void
  written(verb: 'apply' | 'delete' | 'status', kind: string): void
  eventDropped(): void
  /** A value that is read at each scrape, for each value of the label. */
  gauge(name: string, help: string, label: string, read: () => Iterable<readonly [string, number]>): void
}

/** Seconds, as controller-runtime has them. */
const RECONCILE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** Seconds, as client-go has them. */
const QUEUE_BUCKETS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10]
const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30]

export function createOperatorMetrics(): OperatorMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const counter = (name: string, help: string, ...labelNames: string[]) => new Counter({ name, help, labelNames, registers })
  const gauge = (name: string, help: string, ...labelNames: string[]) => new Gauge({ name, help, labelNames, registers })
  const histogram = (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
    new Histogram({ name, help, buckets, labelNames, registers })

  const queueLabels = ['name', 'controller'] as const
  const adds = counter('workqueue_adds_total', 'Keys added to the queue', ...queueLabels)
  const retries = counter('workqueue_retries_total', 'Keys that came again after a failure', ...queueLabels)
  const waited = histogram('workqueue_queue_duration_seconds', 'How long keys wait for a worker', QUEUE_BUCKETS, ...queueLabels)
  const worked = histogram('workqueue_work_duration_seconds', 'How long the work at a key takes', QUEUE_BUCKETS, ...queueLabels)
  const reconciles = counter('controller_runtime_reconcile_total', 'Reconciles by result', 'controller', 'result')
  const errors = counter('controller_runtime_reconcile_errors_total', 'Reconciles that failed', 'controller')
  const durations = histogram('controller_runtime_reconcile_time_seconds', 'How long reconciles take', RECONCILE_BUCKETS, 'controller')
  const active = gauge('controller_runtime_active_workers', 'Workers that are at it', 'controller')
  const workersMax = gauge('controller_runtime_max_concurrent_reconciles', 'Workers there are', 'controller')
  const requests = counter('rest_client_requests_total', 'Requests to the API server; code 0: no answer', 'code', 'method', 'host')
  const requestTime = histogram('rest_client_request_duration_seconds', 'How long the API server takes', REQUEST_BUCKETS, 'verb', 'host')
  const leader = gauge('leader_election_master_status', '1: this process leads', 'name')
  const restarts = counter('logpipeline_operator_watch_restarts_total', 'Watches that had to begin anew', 'resource', 'reason')
  const writes = counter('logpipeline_operator_writes_total', 'Writes to the API server that succeeded', 'verb', 'kind')
  const dropped = counter('logpipeline_operator_events_dropped_total', 'Kubernetes Events that were not written')
  const queues: { readonly labels: Record<'name' | 'controller', string>; readonly queue: WorkQueue }[] = []
  const atScrape = (name: string, help: string, read: (queue: WorkQueue) => number) => {
    const own: Gauge<string> = new Gauge({
      name,
      help,
      labelNames: queueLabels,
      registers,
      collect() {
        for (const { labels, queue } of queues) own.set(labels, read(queue))
      },
    })
  }
  atScrape('workqueue_depth', 'Keys that wait for a worker', queue => queue.depth)
  atScrape('workqueue_unfinished_work_seconds', 'Work under way, all together', queue => sum(queue.workedMs()) / 1000)
  atScrape('workqueue_longest_running_processor_seconds', 'The longest work under way', queue => Math.max(0, ...queue.workedMs()) / 1000)

  return {
    text: () => registry.metrics(),
    contentType: registry.contentType,
    queue(controller) {
      const labels = { name: controller, controller }
      const observer: QueueObserver = {
        added: () => adds.inc(labels),
        taken: ms => waited.observe(labels, ms / 1000),
        ended: ms => worked.observe(labels, ms / 1000),
        retried: () => retries.inc(labels),
      }
      return { observer, attach: queue => void queues.push({ labels, queue }) }
    },
    controller(controller, workers) {
      workersMax.set({ controller }, workers)
      for (const result of ['success', 'error', 'requeue', 'requeue_after']) reconciles.inc({ controller, result }, 0)
      errors.inc({ controller }, 0)
      return {
        onReconcile(result, durationMs) {
          reconciles.inc({ controller, result })
          if (result === 'error') errors.inc({ controller })
          durations.observe({ controller }, durationMs / 1000)
        },
        onActive: count => active.set({ controller }, count),
      }
    },
    request(verb, host, status, durationMs) {
      requests.inc({ code: String(status), method: METHODS[verb] ?? 'GET', host })
      requestTime.observe({ verb, host }, durationMs / 1000)
    },
    leads: (name, leads) => leader.set({ name }, leads ? 1 : 0),
    watchRestarted: (resource, reason) => restarts.inc({ resource, reason }),
    written: (verb, kind) => writes.inc({ verb, kind }),
    eventDropped: () => dropped.inc(),
    gauge(name, help, label, read) {
      const own: Gauge<string> = new Gauge({
        name,
        help,
        labelNames: [label],
        registers,
        collect() {
          own.reset()
          for (const [value, figure] of read()) own.set({ [label]: value }, figure)
        },
      })
    },
  }
}

const METHODS: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE' }

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
