/** Writes documents into the daily indices, for the indexer and for the direct lane. */
import { RecentIds } from '../../../limits/recent-ids.ts'
import { createTurnstile } from '../../../limits/turns.ts'
import { LentBuffers, partsOf } from '../../../memory/lent-buffers.ts'
import type { Outcome } from '../../../pipeline/outcome.ts'
import { createBulkSize } from '../../../pipeline/sinks/bulk-size.ts'
import { writeBulk } from '../../../pipeline/sinks/bulk-writer.ts'
import { createIndexOutages, type IndexOutages } from '../../../pipeline/sinks/index-outages.ts'
import { createLogAliases, type LogAliases } from '../../../pipeline/sinks/log-aliases.ts'
import { createDocumentBuilder, type DocumentBuilder, type LogDocument } from '../../../pipeline/steps/index-documents.ts'
import type { BulkOperation, SearchStore } from '../../../ports/search-store.ts'
import { countDocuments } from '../count-documents.ts'
import { addLogFields, installIndexTemplates } from '../install-index-templates.ts'
import type { ThreadDeps } from './thread-deps.ts'

export interface DocumentBatch<R> {
  readonly records: readonly R[]
  /** They are of tenants that bring much: only some batches of these are written at once. */
  readonly isHeavy: boolean
  /** The document of a record; undefined where it needs none. */
  readonly documentOf: (builder: DocumentBuilder, record: R) => Outcome<LogDocument> | undefined
  /** Called for a record that has no document, or one that the store takes in no form. */
  readonly giveUp: (record: R, reason: string) => void
}

export interface DocumentWriter {
  /** Installs the templates, and begins to make aliases. */
  prepare(): Promise<void>
  /** Resolves once every document is in the store or given up: true when each was made by this very call, as it is, at the first attempt. */
  write<R extends { readonly value: Uint8Array }>(batch: DocumentBatch<R>): Promise<boolean>
}

export interface DocumentWriterDeps extends ThreadDeps {
  readonly store: SearchStore
  /** Default: their own. */
  readonly aliases?: LogAliases
  readonly outages?: IndexOutages
}

/** Documents whose making was in doubt or was that of an anomaly's flags; both writers of a document come close to each other. */
const MAX_COUNTED = 20_000

const FLAG_BYTES = 128

/** So many batches write at once what tenants that bring much have in them. */
const MAX_HEAVY_WRITES = 3

/** It outlives a work: several may write with it. */
export function createDocumentWriter(deps: DocumentWriterDeps): DocumentWriter {
  const { settings, store, count, clock, log, signal } = deps
  const { aliases = openLogAliases(deps, store), outages = createIndexOutages(deps) } = deps
  const memory = new LentBuffers()
  let allocate: (sizeBytes: number) => Buffer
  const builder = createDocumentBuilder(sizeBytes => allocate(sizeBytes))
  const size = createBulkSize()
  const heavyWrites = createTurnstile(MAX_HEAVY_WRITES)
  const counted = new RecentIds(MAX_COUNTED)
  const onProgress = countDocuments(count)

  /** All documents lie in `bytes`. */
  const build = <R>({ records, documentOf, giveUp }: DocumentBatch<R>, bytes: Buffer) => {
    allocate = partsOf(bytes)
    const operations: BulkOperation[] = []
    /** Where each operation comes from. */
    const origins: R[] = []
    const tenants: string[] = []
    for (const record of records) {
      const outcome = documentOf(builder, record)
      if (outcome?.kind === 'deadLetter') giveUp(record, outcome.reason)
      if (outcome?.kind !== 'emit') continue
      const { tenant, operation } = outcome.value
      operations.push(operation)
      origins.push(record)
      tenants.push(tenant)
    }
    return { operations, origins, tenants }
  }

  const write = async <R extends { readonly value: Uint8Array }>(batch: DocumentBatch<R>): Promise<boolean> => {
    const bytes = memory.take(documentBytes(batch.records))
    const { operations, origins, tenants } = build(batch, bytes)
    const result = await writeBulk(operations, { store, clock, signal, fold: builder.fold, size, counted, onProgress, outages })
    const refused = new Set<number>()
    for (const { item, reason } of result.refused) {
      refused.add(item)
      batch.giveUp(origins[item]!, reason)
    }
    for (let i = 0; i < operations.length; i++) {
      // Records of one tenant mostly follow each other.
      const isNoted = i > 0 && tenants[i] === tenants[i - 1] && operations[i]!.index === operations[i - 1]!.index && !refused.has(i - 1)
      if (!isNoted && !refused.has(i)) aliases.note(operations[i]!.index, tenants[i]!)
    }
    memory.giveBack(bytes)
    return result.errors === 0 && result.created === operations.length
  }

  return {
    async prepare() {
      await installIndexTemplates(store, settings)
      await addLogFields(store, log)
      aliases.start()
    },
    write: batch => (batch.isHeavy ? heavyWrites(() => write(batch)) : write(batch)),
  }
}

/** They outlive the work: a batch that failed keeps no alias from being made. */
export function openLogAliases({ count, clock, log, signal }: ThreadDeps, store: SearchStore): LogAliases {
  return createLogAliases({ store, clock, log, signal, onDelayed: aliases => count('aliasesDelayed', aliases) })
}

/** A document is its record without a few members, and with three flags. */
function documentBytes(records: readonly { readonly value: Uint8Array }[]): number {
  let bytes = 0
  for (const { value } of records) bytes += value.length + FLAG_BYTES
  return bytes
}
