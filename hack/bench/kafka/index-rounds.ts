/**
 * Stores the same number of documents in a real OpenSearch in turns: with a bare loop that sends prebuilt bulk requests, and with the bridge's
 * indexer in a process of its own, which reads them from a real Kafka.
 */
import type { ChildProcess } from 'node:child_process'
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildBulkBody } from '../../../dataplane/adapters/search/bulk-body.ts'
import { createSearchStore } from '../../../dataplane/adapters/search/search-store.ts'
import { LOGS_PREFIX } from '../../../dataplane/contract/indices.ts'
import type { Bus } from '../../../dataplane/ports/bus.ts'
import { backendAddress } from '../../../dataplane/testing/real/address.ts'
import { openSearchPid } from '../../../dataplane/testing/real/opensearch-server.ts'
import { collectGarbage } from '../collect-garbage.ts'
import { cpuSeconds } from '../process-usage.ts'
import { DISTINCT_RECORDS, enrichedRecords, logOperations } from '../sample-records.ts'
import { type BenchTopics, createTopics, deleteTopics, openBenchBus } from './bench-topics.ts'
import { postBulk } from './bulk-client.ts'
import { nextMessage, startChild } from './child.ts'
import type { FromIndexer, IndexTask } from './index-task.ts'
import { median } from './median.ts'

export interface IndexPlan {
  readonly rounds: number
  readonly warmUpDocuments: number
}

export interface IndexRound {
  readonly documentsPerSecond: number
  /** CPU of the process that sends. */
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
/** Pause in which merges of the deleted indices end. */
const MERGES_MS = 2_000

interface Bench {
  readonly endpoint: string
  readonly bus: Bus
  readonly topics: BenchTopics
  readonly indexer: ChildProcess
}

export async function measureIndex({ rounds: count, warmUpDocuments }: IndexPlan): Promise<IndexResult> {
  const endpoint = backendAddress('opensearch')
  const store = createSearchStore({ endpoint })
  const topics = await createTopics()
  const bus = await openBenchBus(topics)
  const bench: Bench = { endpoint, bus, topics, indexer: startChild('indexer-process.ts') }
  const clear = async () => {
    for (const index of await store.listIndices(`${LOGS_PREFIX}*`)) await store.deleteIndex(index)
    await sleep(MERGES_MS)
  }
  const measureBoth = async () => {
    const indexer = await measureIndexer(bench)
    await clear()
    const bare = await measureBare(bench)
    await clear()
    return { bare, indexer }
  }
  try {
    const rounds: Awaited<ReturnType<typeof measureBoth>>[] = []
    for (let done = 0; done < warmUpDocuments; done += 2 * SETS_PER_ROUND * DISTINCT_RECORDS) await measureBoth()
    for (let i = 0; i < count; i++) rounds.push(await measureBoth())
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
    bench.indexer.kill()
    await bus.stop()
    await deleteTopics(topics)
    await store.close()
  }
}

/** Rounds have a day of their own each, so that every one fills a new index. */
let day = 1

/** A set for each pass over the generator's records; times, and so ids, differ. */
function nextSets(): ReturnType<typeof enrichedRecords>[] {
  const midnight = Date.now() - (day++ % 28) * DAY_MS
  return Array.from({ length: SETS_PER_ROUND }, (_, i) => enrichedRecords(midnight + i * 1_000))
}

async function measureBare({ endpoint }: Bench): Promise<IndexRound> {
  const { bodies, documents } = prebuild()
  collectGarbage() // what making the documents left behind is not the loop's cost
  const agent = new Agent({ keepAlive: true, maxSockets: BULKS_AT_ONCE })
  const sendNext = async (): Promise<void> => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) await postBulk(endpoint, agent, body)
  }
  const storeSeconds = storeClock()
  const cpuBefore = process.cpuUsage()
  const startedMs = performance.now()
  await Promise.all(Array.from({ length: BULKS_AT_ONCE }, sendNext))
  const seconds = (performance.now() - startedMs) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  agent.destroy()
  return toRound(documents, seconds, (user + system) / 1e6, storeSeconds())
}

function prebuild(): { readonly bodies: Buffer[]; readonly documents: number } {
  const operations = nextSets().flatMap(logOperations)
  const bodies: Buffer[] = []
  for (let from = 0; from < operations.length; from += DOCUMENTS_PER_BULK)
    bodies.push(buildBulkBody(operations.slice(from, from + DOCUMENTS_PER_BULK)))
  return { bodies, documents: operations.length }
}

async function measureIndexer({ endpoint, bus, topics, indexer }: Bench): Promise<IndexRound> {
  const documents = await fill(bus, topics)
  const starting = nextMessage<FromIndexer, 'started'>(indexer, 'started')
  indexer.send({ topics, endpoint, documents } satisfies IndexTask)
  await starting
  const storeSeconds = storeClock()
  const { seconds, cpuSeconds: own } = await nextMessage<FromIndexer, 'stored'>(indexer, 'stored')
  return toRound(documents, seconds, own, storeSeconds())
}

/** Resolves to the number of records that it wrote to Kafka. */
async function fill(bus: Bus, topics: BenchTopics): Promise<number> {
  const records = nextSets().flat()
  const perSend = 2_000
  for (let from = 0; from < records.length; from += perSend) await bus.send(topics.enriched, records.slice(from, from + perSend))
  return records.length
}

/** Tells how many seconds of CPU OpenSearch has used since. */
function storeClock(): () => number {
  const pid = openSearchPid()
  const seconds = () => (pid === undefined ? Number.NaN : cpuSeconds(pid))
  const before = seconds()
  return () => seconds() - before
}

function toRound(documents: number, seconds: number, ownCpuSeconds: number, storeCpuSeconds: number): IndexRound {
  return {
    documentsPerSecond: documents / seconds,
    cpuMicrosPerDocument: (ownCpuSeconds / documents) * 1e6,
    storeCpuMicrosPerDocument: (storeCpuSeconds / documents) * 1e6,
  }
}
