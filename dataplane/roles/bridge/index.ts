/** The bridge: starts its four threads, and the control API around them (Spec: Bridge). */
import { availableParallelism } from 'node:os'
import { BRIDGE_THREADS, type BridgeThread } from '../../contract/bridge-threads.ts'
import { BRIDGE_METRICS, type BridgeMetric } from '../../contract/counters.ts'
import { DEFAULT_TENANT } from '../../contract/tenant-id.ts'
import { startHttpServer } from '../../http/server.ts'
import { createDeadLetterCounter } from '../../pipeline/dead-letters/count-dead-letters.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { createSharedCounters } from '../../telemetry/shared-counters.ts'
import { createConnectionState } from '../connection-state.ts'
import { defineRole, type RoleContext } from '../role.ts'
import { createBridgeApi } from './bridge-api.ts'
import { healthOfToday, troubleOfToday } from './red-day.ts'
import { startRetention } from './retention.ts'
import { createRuntimeConfig } from './runtime-config.ts'
import { startStreamWatch } from './stream-watch.ts'
import { startWorker, type WorkerHost } from './worker-host.ts'

/**
 * Which threads share a worker. etl has as much to do as the other three together; these read the same records,
 * which are unpacked once where they share memory, and two heaps less are 60 to 90 MB (measured).
 */
const WORKERS: readonly (readonly BridgeThread[])[] = [['etl'], ['anomaly', 'indexer', 'lifecycle']]
/** With the direct lane `etl` does what the others did, who have little left to do. */
const LANE_WORKERS: readonly (readonly BridgeThread[])[] = [BRIDGE_THREADS]

/** Cores from which a second worker shares the lane: the store's thread and the collector's keep two busy. */
const CORES_FOR_TWO = 4

/** Which threads each worker runs; those beyond the first ones run `etl`, each with partitions of its own. */
function assignThreads(hasDirectLane: boolean, etlWorkers: number | undefined): readonly (readonly BridgeThread[])[] {
  const count = etlWorkers ?? (hasDirectLane && availableParallelism() >= CORES_FOR_TWO ? 2 : 1)
  return [...(hasDirectLane ? LANE_WORKERS : WORKERS), ...Array.from({ length: count - 1 }, () => ['etl'] as const)]
}

export const start = defineRole(async ({ settings, log, clock, standalone }: RoleContext<'bridge'>, { keep, backends }) => {
  const { HOST: host, SEARCH_ENDPOINT: searchEndpoint } = settings
  const bus = await backends.bus(settings)
  const store = await backends.searchStore(settings)
  const config = createRuntimeConfig({ anomalyThreshold: settings.ANOMALY_THRESHOLD, windowSize: settings.WINDOW_SIZE })
  const counters = createSharedCounters(Object.keys(BRIDGE_METRICS) as BridgeMetric[])
  const hasDirectLane = settings.BUS_BROKERS === undefined && standalone?.connectSearch !== undefined
  const assignments = assignThreads(hasDirectLane, settings.ETL_WORKERS)
  const data = (threads: readonly BridgeThread[]) => ({
    threads,
    hasDirectLane,
    settings: { ...settings, DEFAULT_TENANT: standalone?.defaultTenant ?? DEFAULT_TENANT },
    bus: bus.link(),
    searchPort: standalone?.connectSearch?.(),
    counters: counters.buffer,
    config: config.buffer,
    logFormat: standalone?.logFormat ?? 'json',
  })
  const metrics = createMetrics()
  const countDeadLetters = createDeadLetterCounter(metrics)
  const { promise: running, resolve: isRunning } = Promise.withResolvers<void>()
  const workers: WorkerHost[] = []
  /** `running` once it runs in each worker that has it. */
  const threadState = (thread: BridgeThread) => {
    const states = assignments.flatMap((threads, i) => (threads.includes(thread) ? [workers[i]?.state(thread) ?? 'starting'] : []))
    return states.find(state => state !== 'running') ?? 'running'
  }
  /** Threads that do not run now. */
  const notRunning = () => BRIDGE_THREADS.filter(thread => threadState(thread) !== 'running')
  const onChange = () => {
    if (notRunning().length === 0) isRunning()
  }
  const opened = (signal: AbortSignal) => bus.opened(signal)
  const streams = keep(startStreamWatch({ bus, settings, clock, log }))
  const api = createBridgeApi({
    fixedConfig: {
      busBrokers: settings.BUS_BROKERS ?? 'embedded',
      rawTopic: settings.RAW_TOPIC,
      enrichedTopic: settings.ENRICHED_TOPIC,
      searchEndpoint,
    },
    config,
    counters,
    metrics,
    threadState,
    streamJobs: () => streams.states(),
    busState: createConnectionState(() => bus.describe(), clock),
    searchState: createConnectionState(() => healthOfToday(store, clock), clock, troubleOfToday),
    log,
  })
  // Stopped after the work, so that health can be asked until then.
  const { port } = keep(await startHttpServer(api, { host, port: settings.BRIDGE_PORT, setting: 'BRIDGE_PORT' }))
  const retention = startRetention({
    store,
    retentionDays: settings.RETENTION_DAYS,
    incidentRetentionDays: settings.INCIDENT_RETENTION_DAYS,
    retentionBytes: settings.RETENTION_BYTES,
    clock,
    log,
  })
  for (const threads of assignments) workers.push(startWorker({ threads, data, opened, onChange, countDeadLetters, clock, log }))
  keep([...workers, retention], parts => Promise.all(parts.map(part => part.stop())))
  log.info({ host, port, searchEndpoint }, 'bridge listens')
  void running.then(() => log.info({}, 'all threads of the bridge run'))
  return { port, running, notRunning }
})
