/**
 * Stores the same number of documents in a real OpenSearch in turns: with a bare loop that sends prebuilt bulk requests, and with the bridge's
 * indexer, which reads them from a real Kafka. Prints an `IndexResult` as JSON.
 */
import { Agent } from 'node:http'
import { parseArgs } from 'node:util'
import { systemClock } from '../../../dataplane/adapters/clock/system-clock.ts'
import { buildBulkBody } from '../../../dataplane/adapters/search/bulk-body.ts'
import { createSearchStore } from '../../../dataplane/adapters/search/search-store.ts'
import { loadSettings } from '../../../dataplane/config/environment.ts'
import { LOGS_PREFIX } from '../../../dataplane/contract/indices.ts'
import { DEFAULT_TENANT } from '../../../dataplane/contract/tenant-id.ts'
import { runAtLeastOnce } from '../../../dataplane/pipeline/runners/at-least-once.ts'
import type { Work } from '../../../dataplane/pipeline/runners/work.ts'
import type { Bus } from '../../../dataplane/ports/bus.ts'
import type { SearchStore } from '../../../dataplane/ports/search-store.ts'
import { createRuntimeConfig } from '../../../dataplane/roles/bridge/runtime-config.ts'
import { createIndexerWork } from '../../../dataplane/roles/bridge/threads/indexer.ts'
import { SILENT } from '../../../dataplane/telemetry/log.ts'
import { backendAddress } from '../../real/address.ts'
import { openSearchPid } from '../../real/opensearch-server.ts'
import { collectGarbage } from '../collect-garbage.ts'
import { cpuSeconds } from '../process-usage.ts'
import { DISTINCT_RECORDS, enrichedRecords, logOperations } from '../sample-records.ts'
import { type BenchTopics, createTopics, deleteTopics, openBenchBus } from './bench-topics.ts'
import { postBulk } from './bulk-client.ts'
import { median } from './median.ts'

export interface IndexRound {
  readonly documentsPerSecond: number
  /** Of this process. */
  readonly cpuMicrosPerDocument: number
  readonly storeCpuMicrosPerDocument: number
}

export interface IndexResult {
  readonly bare: IndexRound
  readonly indexer: IndexRound
  /** The indexer's documents per second as a share of the bare loop's, round by round. */
  readonly shares: readonly number[]
  readonly rounds: readonly { readonly bare: IndexRound; readonly indexer: IndexRound }[]
}

const DAY_MS = 86_400_000
/** As the indexer does it. */
const DOCUMENTS_PER_BULK = 2_000
const BULKS_AT_ONCE = 3
const SETS_PER_ROUND = 5

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, 'warm-up': { type: 'string', default: '150000' } } })
const endpoint = backendAddress('opensearch')
const store = createSearchStore({ endpoint })
const agent = new Agent({ keepAlive: true, maxSockets: BULKS_AT_ONCE })
/** Rounds have a day of their own each, so that every one fills a new index. */
let day = 1
process.stdout.write(`${JSON.stringify(await measure(Number(values.rounds), Number(values['warm-up'])))}\n`)

async function measure(count: number, warmUpDocuments: number): Promise<IndexResult> {
  const topics = await createTopics()
  const bus = await openBenchBus(topics)
  try {
    const rounds: Awaited<ReturnType<typeof measureBoth>>[] = []
    for (let done = 0; done < warmUpDocuments; done += 2 * SETS_PER_ROUND * DISTINCT_RECORDS) await measureBoth(bus, topics, store)
    for (let i = 0; i < count; i++) rounds.push(await measureBoth(bus, topics, store))
    const medianOf = (read: (round: (typeof rounds)[number]) => IndexRound): IndexRound => ({
      documentsPerSecond: median(rounds.map(round => read(round).documentsPerSecond)),
      cpuMicrosPerDocument: median(rounds.map(round => read(round).cpuMicrosPerDocument)),
      storeCpuMicrosPerDocument: median(rounds.map(round => read(round).storeCpuMicrosPerDocument)),
    })
    return {
      bare: medianOf(round => round.bare),
      indexer: medianOf(round => round.indexer),
      shares: rounds.map(({ bare, indexer }) => indexer.documentsPerSecond / bare.documentsPerSecond),
      rounds,
    }
  } finally {
    await bus.stop()
    await deleteTopics(topics)
    await store.close()
    agent.destroy()
  }
}

async function measureBoth(bus: Bus, topics: BenchTopics, store: SearchStore) {
  const indexer = await measureIndexer(bus, topics)
  const bare = await measureBare()
  for (const index of await store.listIndices(`${LOGS_PREFIX}*`)) await store.deleteIndex(index)
  return { bare, indexer }
}

/** A set for each pass over the generator's records; times, and so ids, differ. */
function nextSets(): ReturnType<typeof enrichedRecords>[] {
  const midnight = Date.now() - (day++ % 28) * DAY_MS
  return Array.from({ length: SETS_PER_ROUND }, (_, i) => enrichedRecords(midnight + i * 1_000))
}

async function measureBare(): Promise<IndexRound> {
  const operations = nextSets().flatMap(logOperations)
  const bodies: Buffer[] = []
  for (let from = 0; from < operations.length; from += DOCUMENTS_PER_BULK)
    bodies.push(buildBulkBody(operations.slice(from, from + DOCUMENTS_PER_BULK)))
  const sendNext = async (): Promise<void> => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) await postBulk(endpoint, agent, body)
  }
  return timed(operations.length, async () => {
    await Promise.all(Array.from({ length: BULKS_AT_ONCE }, sendNext))
  })
}

/** Resolves to the number of records that it wrote to Kafka. */
async function fill(bus: Bus, topics: BenchTopics): Promise<number> {
  const records = nextSets().flat()
  const perSend = 2_000
  for (let from = 0; from < records.length; from += perSend) await bus.send(topics.enriched, records.slice(from, from + perSend))
  return records.length
}

async function measureIndexer(bus: Bus, topics: BenchTopics): Promise<IndexRound> {
  const recordCount = await fill(bus, topics)
  const stop = new AbortController()
  const stored = Promise.withResolvers<void>()
  let left = recordCount
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
  const work = createIndexerWork(deps, store)
  const started = Promise.withResolvers<void>()
  const watched: Work = {
    ...work,
    async handle(batch, output) {
      started.resolve()
      return work.handle(batch, output)
    },
  }
  const done = runAtLeastOnce({ bus, clock: systemClock, work: watched, signal: stop.signal })
  await Promise.race([started.promise, done])
  const round = await timed(recordCount, () => Promise.race([stored.promise, done]))
  stop.abort()
  await done // it may still wait for more records
  return round
}

async function timed(documents: number, work: () => Promise<void>): Promise<IndexRound> {
  collectGarbage() // what making the records left behind is nobody's cost
  const pid = openSearchPid()
  const storeSeconds = () => (pid === undefined ? Number.NaN : cpuSeconds(pid))
  const storeBefore = storeSeconds()
  const cpuBefore = process.cpuUsage()
  const startedMs = performance.now()
  await work()
  const seconds = (performance.now() - startedMs) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  return {
    documentsPerSecond: documents / seconds,
    cpuMicrosPerDocument: (user + system) / documents,
    storeCpuMicrosPerDocument: ((storeSeconds() - storeBefore) / documents) * 1e6,
  }
}
