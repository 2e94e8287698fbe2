import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type EmbeddedBus, openEmbeddedBus } from '../../../adapters/bus/embedded/embedded-bus.ts'
import { systemClock } from '../../../adapters/clock/system-clock.ts'
import { consumerGroup } from '../../../contract/consumer-groups.ts'
import { decodeAnomalyEvent } from '../../../pipeline/anomaly-event.ts'
import { runAtLeastOnce } from '../../../pipeline/runners/at-least-once.ts'
import type { Work } from '../../../pipeline/runners/work.ts'
import type { LogAliases } from '../../../pipeline/sinks/aliases/log-aliases.ts'
import type { Bus } from '../../../ports/bus.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../../testing/memory-search-store.ts'
import { packedBulkBy } from '../../../testing/packed-bulk-store.ts'
import { createDirectLane } from './direct-lane.ts'
import { createDocumentWriter } from './document-writer.ts'
import { createIndexerWork } from './indexer.ts'
import type { ThreadDeps } from './thread-deps.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const INDEX = 'service-logs-2026.11.21'
const [RAW, ENRICHED, ANOMALY, DEAD] = ['raw-logs', 'enriched-logs', 'anomaly-events', 'dead-letter-queue'] as const
const SERVICES = ['cart', 'shop', 'mail'] as const
const ROUNDS = 4
const NO_ALIASES: LogAliases = { note() {}, start() {}, knownSinceMs: () => undefined }

/** Every service says 20 ordinary things in a round, and one that is an anomaly by rule and by Z-score once its window holds enough. */
const messages = Array.from({ length: ROUNDS * SERVICES.length }, (_, at) => {
  const service = SERVICES[at % SERVICES.length]!
  const logRecords = Array.from({ length: 21 }, (_, i) => ({
    timeUnixNano: `${NOW_MS + at}${String(i).padStart(6, '0')}`,
    severityText: i === 20 ? 'ERROR' : 'INFO',
    body: { stringValue: i === 20 ? `request ${at} timed out` : `order ${at}-${i} shipped` },
  }))
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: service } }] }
  return { key: `default/${service}`, value: Buffer.from(JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] })) }
})

/** Fails one write, before or after it is done; those that follow fail, too, as those of a process that has died. */
type Fault = { readonly write: number; readonly isDone: boolean } | undefined

/** The documents, the anomalies' ids, and the number of writes, once all is taken through in spite of the fault. */
async function takeThrough(fault: Fault) {
  const dir = mkdtempSync(join(tmpdir(), 'logpipeline-lane-'))
  const topics = [RAW, ENRICHED, ANOMALY, DEAD].map(name => ({ name, partitions: 2, retentionMs: 1e9 }))
  const bus = await openEmbeddedBus({ dir, topics, maxBytes: 1e9, clock: systemClock, log: SILENT })
  const store = createMemorySearchStore()
  try {
    await bus.send(RAW, messages)
    let writes = 0
    const count = async <T>(write: () => Promise<T>): Promise<T> => {
      const number = writes++
      if (fault === undefined || number < fault.write) return write()
      if (number === fault.write && fault.isDone) await write()
      throw new Error('died')
    }
    const dying = { ...bus, send: (topic: string, records: Parameters<Bus['send']>[1]) => count(() => bus.send(topic, records)) }
    const drained = () => isDrained(bus, consumerGroup('etl', [RAW]), RAW)
    await run(dying, operations => count(() => store.bulk(operations)), lane, drained, store).catch(() => undefined)
    await run(bus, operations => store.bulk(operations), lane, drained, store)
    const indexer = consumerGroup('indexer', [ENRICHED, ANOMALY])
    await run(
      bus,
      operations => store.bulk(operations),
      createIndexerWork,
      () => isDrained(bus, indexer, ANOMALY),
      store,
    )
    return { documents: Object.fromEntries([...store.documents(INDEX)].sort()), anomalies: await anomaliesOn(bus), writes }
  } finally {
    await bus.stop()
    rmSync(dir, { recursive: true })
  }
}

type CreateWork = (deps: ThreadDeps, writer: ReturnType<typeof createDocumentWriter>) => Work

const lane: CreateWork = (deps, writer) => ({
  ...createDirectLane({
    ...deps,
    writer,
    features: { lookup: () => undefined, ready: async () => undefined, fresh: async () => undefined },
  }),
  // Two messages a batch: several are under way.
  limits: { maxRecords: 2, maxBytes: 1e6, waitMs: 20 },
  minBatchMs: 0,
})

/** Until all is committed, or the work fails. */
async function run(bus: Bus, bulk: SearchStore['bulk'], create: CreateWork, drained: () => Promise<boolean>, store: MemorySearchStore) {
  const stop = new AbortController()
  const topics = { RAW_TOPIC: RAW, ENRICHED_TOPIC: ENRICHED, ANOMALY_TOPIC: ANOMALY, DEAD_LETTER_TOPIC: DEAD }
  const deps = {
    settings: { ...topics, RETENTION_DAYS: 36_500, DEFAULT_TENANT: 'default' },
    config: { read: () => ({ anomalyThreshold: 2.5, windowSize: 50 }) },
    ...{ bus, count: () => undefined, log: SILENT, clock: systemClock, signal: stop.signal },
  } as unknown as ThreadDeps
  const writer = createDocumentWriter({ ...deps, store: { ...store, bulk, bulkPacked: packedBulkBy(bulk) }, aliases: NO_ALIASES })
  const work = { ...create(deps, writer), prepare: async () => undefined }
  const running = runAtLeastOnce({ bus, clock: systemClock, work, signal: stop.signal })
  const waiting = (async () => {
    while (!stop.signal.aborted && !(await drained())) await systemClock.sleep(5, stop.signal)
    stop.abort()
  })()
  try {
    await running
  } finally {
    stop.abort()
    await waiting
  }
}

async function isDrained(bus: EmbeddedBus, groupId: string, topic: string): Promise<boolean> {
  const committed = await bus.committedOffsets(groupId)
  const { partitions } = await bus.describe()
  return partitions
    .filter(state => state.topic === topic)
    .every(({ partition, endOffset }) => {
      const own = committed.find(offset => offset.topic === topic && offset.partition === partition)
      return (own?.offset ?? 0) === endOffset
    })
}

async function anomaliesOn(bus: EmbeddedBus): Promise<readonly string[]> {
  const subscription = await bus.subscribe({ groupId: 'reader', topics: [ANOMALY] })
  const ids = new Set<string>()
  for (;;) {
    const events = await subscription.poll({ maxRecords: 1_000, maxBytes: 1e7, waitMs: 50 })
    if (events.length === 0) break
    for (const event of events) ids.add(decodeAnomalyEvent(event)!.anomaly.id)
  }
  await subscription.close()
  return [...ids].sort()
}

describe('the direct lane that dies at any write', function () {
  this.timeout(120_000)

  it('leaves the same documents and the same anomalies as one that does not', async () => {
    const { writes, ...expected } = await takeThrough(undefined)
    expect(Object.keys(expected.documents)).to.have.length(messages.length * 21)
    expect(expected.anomalies).to.have.length(messages.length)
    const flagged = Object.values(expected.documents).filter(document => (document as { is_anomaly: boolean }).is_anomaly)
    expect(flagged).to.have.length(messages.length)
    for (let write = 0; write < writes; write++) {
      for (const isDone of [false, true]) {
        const { documents, anomalies } = await takeThrough({ write, isDone })
        expect({ documents, anomalies }, `died ${isDone ? 'after' : 'before'} write ${write}`).to.deep.equal(expected)
      }
    }
  })
})
