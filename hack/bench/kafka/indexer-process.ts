/** A process that does the work of the bridge's indexer between a real Kafka and a real OpenSearch, once for each task that it is sent. */
import { systemClock } from '../../../dataplane/adapters/clock/system-clock.ts'
import { createSearchStore } from '../../../dataplane/adapters/search/search-store.ts'
import { loadSettings } from '../../../dataplane/config/environment.ts'
import { DEFAULT_TENANT } from '../../../dataplane/contract/tenant-id.ts'
import { runAtLeastOnce } from '../../../dataplane/pipeline/runners/at-least-once.ts'
import { createRuntimeConfig } from '../../../dataplane/roles/bridge/runtime-config.ts'
import { createDocumentWriter } from '../../../dataplane/roles/bridge/threads/document-writer.ts'
import { createIndexerWork } from '../../../dataplane/roles/bridge/threads/indexer.ts'
import { SILENT } from '../../../dataplane/telemetry/log.ts'
import { openBenchBus } from './bench-topics.ts'
import type { FromIndexer, IndexRun, IndexTask } from './index-task.ts'

const tell = (message: FromIndexer) => void process.send!(message)
process.on('message', async (task: IndexTask) => tell({ kind: 'stored', ...(await run(task)) }))

async function run({ topics, endpoint, documents }: IndexTask): Promise<IndexRun> {
  const bus = await openBenchBus(topics)
  const store = createSearchStore({ endpoint })
  const stop = new AbortController()
  const stored = Promise.withResolvers<void>()
  let left = documents
  const settings = loadSettings('bridge', { ...topics.settings, SEARCH_ENDPOINT: endpoint })
  const deps = {
    settings: { ...settings, SEARCH_ENDPOINT: endpoint, DEFAULT_TENANT },
    bus,
    config: createRuntimeConfig({ anomalyThreshold: settings.ANOMALY_THRESHOLD, windowSize: settings.WINDOW_SIZE }),
    count(counter: string, amount: number) {
      if (counter === 'indexErrors') throw new Error(`${amount} documents were refused`)
      if (counter === 'indexed') left -= amount
      if (left === 0) stored.resolve()
    },
    log: SILENT,
    clock: systemClock,
    signal: new AbortController().signal,
  }
  const work = createIndexerWork(deps, createDocumentWriter({ ...deps, store }))
  const started = Promise.withResolvers<void>()
  const done = runAtLeastOnce({
    bus,
    clock: systemClock,
    work: {
      ...work,
      async handle(batch, output) {
        started.resolve()
        return work.handle(batch, output)
      },
    },
    signal: stop.signal,
  })
  await Promise.race([started.promise, done])
  tell({ kind: 'started' })
  const cpuBefore = process.cpuUsage()
  const startedMs = performance.now()
  await Promise.race([stored.promise, done])
  const seconds = (performance.now() - startedMs) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  stop.abort()
  await done
  await store.close()
  await bus.stop()
  return { seconds, cpuSeconds: (user + system) / 1e6 }
}
