import { createSearchStore } from '../../adapters/search/search-store.ts'
import { BRIDGE_METRICS, BRIDGE_THREADS, type BridgeMetric, type BridgeThread } from '../../contract/counters.ts'
import { startHttpServer } from '../../http/server.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { createSharedCounters } from '../../telemetry/shared-counters.ts'
import { createConnectionState } from '../connection-state.ts'
import { createDeadLetterCounter } from '../count-dead-letters.ts'
import type { RoleBus } from '../open-bus.ts'
import { createBridgeApi } from './bridge-api.ts'
import { startRetention } from './retention.ts'
import { createRuntimeConfig } from './runtime-config.ts'
import { searchStoreConfig } from './search-store-config.ts'
import { startStreamWatch } from './stream-watch.ts'
import type { BridgeSettings } from './threads/thread-deps.ts'
import { startWorker, type WorkerHost } from './worker-host.ts'

export interface BridgeDeps {
  readonly settings: BridgeSettings & { readonly HOST: string; readonly BRIDGE_PORT: number; readonly BUS_BROKERS?: string | undefined }
  readonly bus: RoleBus
  readonly logFormat: 'json' | 'readable'
  readonly log: Log
  readonly clock: Clock
}

export interface Bridge {
  readonly port: number
  /** Resolves once all four threads have run at the same time. */
  readonly running: Promise<void>
  /** Threads that do not run now. */
  notRunning(): readonly BridgeThread[]
  stop(): Promise<void>
}

/**
 * Which threads share a worker. etl has as much to do as the other three together; these read the same records,
 * which are unpacked once where they share memory, and two heaps less are 60 to 90 MB (measured).
 */
const WORKERS: readonly (readonly BridgeThread[])[] = [['etl'], ['anomaly', 'indexer', 'lifecycle']]

/** Starts the four threads and the control API around them. */
export async function startBridge({ settings, bus, logFormat, log, clock }: BridgeDeps): Promise<Bridge> {
  const config = createRuntimeConfig({ anomalyThreshold: settings.ANOMALY_THRESHOLD, windowSize: settings.WINDOW_SIZE })
  const counters = createSharedCounters(Object.keys(BRIDGE_METRICS) as BridgeMetric[])
  const store = createSearchStore(searchStoreConfig(settings))
  const data = (threads: readonly BridgeThread[]) => ({
    threads,
    settings,
    bus: bus.link(),
    counters: counters.buffer,
    config: config.buffer,
    logFormat,
  })
  const metrics = createMetrics()
  const countDeadLetters = createDeadLetterCounter(metrics)
  const { promise: running, resolve: isRunning } = Promise.withResolvers<void>()
  const onChange = () => {
    if (notRunning().length === 0) isRunning()
  }
  const workers: WorkerHost[] = []
  const threadState = (thread: BridgeThread) => workers[WORKERS.findIndex(threads => threads.includes(thread))]?.state(thread) ?? 'starting'
  const notRunning = () => BRIDGE_THREADS.filter(thread => threadState(thread) !== 'running')
  const opened = (signal: AbortSignal) => bus.opened(signal)
  for (const threads of WORKERS) workers.push(startWorker({ threads, data, opened, onChange, countDeadLetters, clock, log }))
  const streams = startStreamWatch({ bus, settings, clock, log })
  const api = createBridgeApi({
    fixedConfig: {
      busBrokers: settings.BUS_BROKERS ?? 'embedded',
      rawTopic: settings.RAW_TOPIC,
      enrichedTopic: settings.ENRICHED_TOPIC,
      searchEndpoint: settings.SEARCH_ENDPOINT,
    },
    config,
    counters,
    metrics,
    threadState,
    streamJobs: () => streams.states(),
    busState: createConnectionState(() => bus.describe(), clock),
    searchState: createConnectionState(() => store.clusterStatus(), clock),
    log,
  })
  const stopWorkers = () => Promise.all(workers.map(worker => worker.stop()))
  const retention = startRetention({ store, retentionDays: settings.RETENTION_DAYS, clock, log })
  try {
    const server = await startHttpServer(api, { host: settings.HOST, port: settings.BRIDGE_PORT, setting: 'BRIDGE_PORT' })
    return {
      port: server.port,
      running,
      notRunning,
      async stop() {
        streams.stop()
        await Promise.all([stopWorkers(), retention.stop()])
        await server.stop()
        await store.close()
      },
    }
  } catch (error) {
    streams.stop()
    await Promise.all([stopWorkers(), retention.stop()])
    await store.close()
    throw error
  }
}
