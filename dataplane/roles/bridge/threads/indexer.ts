/** The thread `indexer`: writes logs and anomaly flags into the daily indices (Spec: Pipeline rules 5). */
import { consumerGroup } from '../../../contract/consumer-groups.ts'
import { RecentIds } from '../../../limits/recent-ids.ts'
import { LentBuffers, partsOf } from '../../../memory/lent-buffers.ts'
import { collectDeadLetters } from '../../../pipeline/dead-letter.ts'
import { divideByTenant } from '../../../pipeline/light-tenants.ts'
import type { AfterCommit, Output, Work } from '../../../pipeline/runners/work.ts'
import { createBulkSize } from '../../../pipeline/sinks/bulk-size.ts'
import { writeBulk } from '../../../pipeline/sinks/bulk-writer.ts'
import { createIndexOutages, type IndexOutages } from '../../../pipeline/sinks/index-outages.ts'
import { createLogAliases, type LogAliases } from '../../../pipeline/sinks/log-aliases.ts'
import { createDocumentBuilder } from '../../../pipeline/steps/index-documents.ts'
import type { ConsumedRecord } from '../../../ports/bus.ts'
import type { BulkOperation, SearchStore } from '../../../ports/search-store.ts'
import { countDocuments } from '../count-documents.ts'
import { addLogFields, installIndexTemplates } from '../install-index-templates.ts'
import type { ThreadDeps } from './thread-deps.ts'

/** Documents whose making was in doubt or was that of an anomaly's flags; both writers of a document come close to each other. */
const MAX_COUNTED = 20_000

const FLAG_BYTES = 128

/** Batches under way: so far ahead those are found that bring little. */
const MAX_BATCHES = 8
/** Of these so many write what tenants that bring much have in them. */
const MAX_HEAVY_WRITES = 3

/** Writes every enriched log, and the flags of every anomaly, into the daily indices (Spec: Pipeline rules 5). */
export function createIndexerWork(
  deps: ThreadDeps,
  store: SearchStore,
  aliases: LogAliases = openLogAliases(deps, store),
  outages: IndexOutages = createIndexOutages({ ...deps, store }),
): Work {
  const { settings, count, countDeadLetters, clock, log, signal } = deps
  const memory = new LentBuffers()
  let allocate: (sizeBytes: number) => Buffer
  const builder = createDocumentBuilder(sizeBytes => allocate(sizeBytes))
  const size = createBulkSize()
  const heavyWrites = createTurnstile(MAX_HEAVY_WRITES)
  const counted = new RecentIds(MAX_COUNTED)
  const onProgress = countDocuments(count)
  const topics = [settings.ENRICHED_TOPIC, settings.ANOMALY_TOPIC]

  /** All documents lie in `bytes`. */
  const build = (records: readonly ConsumedRecord[], output: Output, bytes: Buffer) => {
    allocate = partsOf(bytes)
    const operations: BulkOperation[] = []
    /** Where each operation comes from. */
    const origins: ConsumedRecord[] = []
    const tenants: string[] = []
    const dead = collectDeadLetters({ bus: output, topic: settings.DEAD_LETTER_TOPIC, stage: 'indexer', clock, log, countDeadLetters })
    for (const record of records) {
      const outcome = record.topic === settings.ENRICHED_TOPIC ? builder.log(record) : builder.flags(record)
      if (outcome.kind === 'deadLetter') dead.add(record, outcome.reason)
      if (outcome.kind !== 'emit') continue
      const { tenant, operation } = outcome.value
      operations.push(operation)
      origins.push(record)
      tenants.push(tenant)
    }
    return { operations, origins, tenants, dead }
  }

  return {
    subscription: { groupId: consumerGroup('indexer', topics), topics },
    limits: { maxRecords: 2_000, maxBytes: 4 * 1024 * 1024, waitMs: 200 },
    minBatchMs: 40,
    maxInFlight: MAX_BATCHES,
    async prepare() {
      await installIndexTemplates(store, settings)
      await addLogFields(store, log)
      aliases.start()
    },
    async handle(records, output) {
      const { light, heavy } = divideByTenant(records)
      const counts = await Promise.all([
        ...(light.length > 0 ? [write(light, output)] : []),
        ...(heavy.length > 0 ? [heavyWrites(() => write(heavy, output))] : []),
      ])
      return () => {
        for (const countLetters of counts) countLetters()
      }
    },
  }

  /** Resolves with what counts the dead letters. */
  async function write(records: readonly ConsumedRecord[], output: Output): Promise<AfterCommit> {
    const bytes = memory.take(documentBytes(records))
    const { operations, origins, tenants, dead } = build(records, output, bytes)
    const result = await writeBulk(operations, { store, clock, signal, fold: builder.fold, size, counted, onProgress, outages })
    const refused = new Set<number>()
    for (const { item, reason } of result.refused) {
      refused.add(item)
      dead.add(origins[item]!, reason)
    }
    await dead.send()
    for (let i = 0; i < operations.length; i++) {
      // Records of one tenant mostly follow each other.
      const isNoted = i > 0 && tenants[i] === tenants[i - 1] && operations[i]!.index === operations[i - 1]!.index && !refused.has(i - 1)
      if (!isNoted && !refused.has(i)) aliases.note(operations[i]!.index, tenants[i]!)
    }
    memory.giveBack(bytes)
    return dead.count
  }
}

/** They outlive the work: a batch that failed keeps no alias from being made. */
export function openLogAliases({ count, clock, log, signal }: ThreadDeps, store: SearchStore): LogAliases {
  return createLogAliases({ store, clock, log, signal, onDelayed: aliases => count('aliasesDelayed', aliases) })
}

/** Runs so many at a time; the others wait, in their order. */
function createTurnstile(maxAtOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let inside = 0
  return async work => {
    if (inside === maxAtOnce) await new Promise<void>(resolve => waiting.push(resolve))
    else inside++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) inside--
      else next()
    }
  }
}

/** A document is its record without a few members, and with three flags. */
function documentBytes(records: readonly ConsumedRecord[]): number {
  let bytes = 0
  for (const { value } of records) bytes += value.length + FLAG_BYTES
  return bytes
}
