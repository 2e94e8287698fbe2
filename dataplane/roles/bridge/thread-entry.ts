/** Entry of a bridge thread's worker: connects, then runs its work until told to stop, again with back-off whenever it fails. */
import { parentPort, workerData } from 'node:worker_threads'
import { attachEmbeddedBus } from '../../adapters/bus/embedded/embedded-bus.ts'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { BRIDGE_COUNTERS, type BridgeCounter, type BridgeThread } from '../../contract/counters.ts'
import { runAtLeastOnce, type Work } from '../../pipeline/runners/at-least-once.ts'
import { supervise } from '../../pipeline/runners/supervise.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { attachSharedCounters } from '../../telemetry/shared-counters.ts'
import { attachRuntimeConfig } from './runtime-config.ts'
import { searchStoreConfig } from './search-store-config.ts'
import type { FromThread, ThreadData, ToThread } from './thread-messages.ts'
import type { ThreadDeps } from './threads/thread-deps.ts'

/** Each thread loads only what it works with. */
const WORK: Readonly<Record<BridgeThread, (deps: ThreadDeps) => Promise<Work>>> = {
  etl: async deps => (await import('./threads/etl.ts')).createEtlWork(deps),
  anomaly: async deps => (await import('./threads/anomaly.ts')).createAnomalyWork(deps),
  indexer: async deps => (await import('./threads/indexer.ts')).createIndexerWork(deps, await openStore()),
  lifecycle: async deps => (await import('./threads/lifecycle.ts')).createLifecycleWork(deps, await openStore()),
}

const port = parentPort!
const { thread, settings, bus: share, counters: countersBuffer, config, logFormat } = workerData as ThreadData
const clock = systemClock
const log = createLogger({ level: settings.LOG_LEVEL, format: logFormat, fields: { role: 'bridge', thread } })
const bus = attachEmbeddedBus(share, { clock, log })
let store: SearchStore | undefined
const counters = attachSharedCounters(Object.keys(BRIDGE_COUNTERS) as BridgeCounter[], countersBuffer)
const stopping = new AbortController()
port.on('message', (message: ToThread) => {
  if (message.kind === 'stop') stopping.abort()
})
const deps: ThreadDeps = {
  settings,
  bus,
  config: attachRuntimeConfig(config),
  count: (counter, amount) => counters.add(counter, amount),
  log,
  clock,
  signal: stopping.signal,
}

await supervise({
  clock,
  signal: stopping.signal,
  onState: (state, error) =>
    port.postMessage({ kind: 'state', state, ...(error === undefined ? {} : { error: error.message }) } satisfies FromThread),
  run: async ready => runAtLeastOnce({ bus, clock, work: withReady(await WORK[thread](deps), ready), signal: stopping.signal }),
})
await bus.stop()
await store?.close()
port.close()

/** Reports the thread as running once its state is restored. */
function withReady(work: Work, ready: () => void): Work {
  return {
    ...work,
    async prepare(subscription) {
      await work.prepare?.(subscription)
      ready()
    },
  }
}

async function openStore(): Promise<SearchStore> {
  const { createSearchStore } = await import('../../adapters/search/search-store.ts')
  store ??= createSearchStore(searchStoreConfig(settings))
  return store
}
