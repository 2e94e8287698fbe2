/** Writes documents into the daily indices, for the indexer and for the direct lane. */
import { CreationPacker, type PackedBulk } from '../../../bulk-port/packed-bulk.ts'
import { type AnomalyFlags, NO_ANOMALY } from '../../../domain/documents/document.ts'
import { RecentIds } from '../../../limits/recent-ids.ts'
import { createTurnstile } from '../../../limits/turns.ts'
import { LentBuffers, partsOf } from '../../../memory/lent-buffers.ts'
import type { FlatRow } from '../../../pipeline/flat-row.ts'
import type { Outcome } from '../../../pipeline/outcome.ts'
import { createLogAliases, type LogAliases } from '../../../pipeline/sinks/aliases/log-aliases.ts'
import { createBulkSize } from '../../../pipeline/sinks/bulk-size.ts'
import { type BulkResult, type BulkWriterDeps, type FirstOutcomes, writeBulk } from '../../../pipeline/sinks/bulk-writer.ts'
import { createIndexOutages, type IndexOutages } from '../../../pipeline/sinks/index-outages.ts'
import type { DocumentHome } from '../../../pipeline/steps/document-homes.ts'
import { createDocumentBuilder, type DocumentBuilder, type LogDocument } from '../../../pipeline/steps/index-documents.ts'
import { type BulkOperation, type SearchStore, SearchStoreUnavailable } from '../../../ports/search-store.ts'
import { countDocuments } from '../count-documents.ts'
import { addLogFields, installIndexTemplates } from '../install-index-templates.ts'
import { createFoldNotes } from './fold-notes.ts'
import type { ThreadDeps } from './thread-deps.ts'

export interface DocumentBatch<R> {
  readonly records: readonly R[]
  /** The records are of tenants that bring much: only some batches of such tenants are written at once. */
  readonly isHeavy: boolean
  /** The document of a record; undefined where it needs none. */
  readonly documentOf: (builder: DocumentBuilder, record: R) => Outcome<LogDocument> | undefined
  /** Called for a record that has no document, or one that the store takes in no form. */
  readonly giveUp: (record: R, reason: string) => void
}

/** Rows of the direct lane, whose documents are all log documents. */
export interface RowBatch {
  readonly rows: readonly FlatRow[]
  readonly isHeavy: boolean
  /** The flags of the anomaly that a row is; undefined for one that is none. */
  readonly flagsOf: (row: FlatRow) => AnomalyFlags | undefined
  readonly giveUp: (row: FlatRow, reason: string) => void
}

export interface DocumentWriter {
  /** Installs the templates, and begins to make aliases. */
  prepare(): Promise<void>
  /** Resolves once every document is in the store or given up: true when each was made by this very call, as it is, at the first attempt. */
  write<R extends { readonly value: Uint8Array }>(batch: DocumentBatch<R>): Promise<boolean>
  /** The same for rows; into a store of the same process without an object for each. */
  writeRows(batch: RowBatch): Promise<boolean>
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

/** Batches of tenants that bring much which write at once. */
const MAX_HEAVY_WRITES = 3

/** The writer outlives a work: several works may write with it. */
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
  const notes = createFoldNotes(deps)
  const fold = (operation: BulkOperation, reason: string) => {
    notes.note(operation.index, reason)
    return builder.fold(operation, reason)
  }
  const writing: BulkWriterDeps = { store, clock, signal, fold, size, counted, onProgress, outages }

  /** `outcomes`: of an attempt at these documents that was made already. */
  const write = async <R extends { readonly value: Uint8Array }>(batch: DocumentBatch<R>, outcomes?: FirstOutcomes): Promise<boolean> => {
    const bytes = memory.take(documentBytes(batch.records))
    allocate = partsOf(bytes)
    const built = build(batch, builder)
    const result = await writeBulk(built.operations, writing, outcomes)
    finish(result, built, batch)
    memory.giveBack(bytes)
    return result.isMadeAtOnce
  }

  /** Gives up what was refused, and notes the aliases of all else. */
  const finish = <R>(result: BulkResult, { operations, origins, tenants }: Built<R>, { giveUp }: DocumentBatch<R>): void => {
    const refused = new Set<number>()
    for (const { item, reason } of result.refused) {
      refused.add(item)
      giveUp(origins[item]!, reason)
    }
    for (let i = 0; i < operations.length; i++) {
      // Records of one tenant mostly follow each other.
      const isNoted = i > 0 && tenants[i] === tenants[i - 1] && operations[i]!.index === operations[i - 1]!.index && !refused.has(i - 1)
      if (!isNoted && !refused.has(i)) aliases.note(operations[i]!.index, tenants[i]!)
    }
  }

  /** Undefined where the rows have to be written one object each. */
  const pack = ({ rows, flagsOf }: RowBatch): Packed | undefined => {
    const sizeBytes = packedBytes(rows)
    if (outages.isAny || sizeBytes > size.bytes) return undefined
    const packer = new CreationPacker(memory.takeWhole(sizeBytes), rows.length)
    const homes: DocumentHome[] = []
    // By position, as all loops over rows: an iterator makes an object for each.
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!
      const home = builder.pack(row, flagsOf(row) ?? NO_ANOMALY, packer)
      if (home === undefined) {
        memory.giveBack(packer.bytes)
        return undefined
      }
      if (home !== homes.at(-1)) homes.push(home)
    }
    return { bulk: packer.packed(), homes }
  }

  const allCreated = (documents: number, homes: readonly DocumentHome[]): true => {
    size.grow()
    onProgress({ created: documents, errors: 0 })
    for (const { index, tenant } of homes) aliases.note(index, tenant)
    return true
  }

  const sendPacked = async (bulkPacked: NonNullable<SearchStore['bulkPacked']>, bulk: PackedBulk) => {
    try {
      const { bytes, outcomes } = await bulkPacked(bulk)
      memory.giveBack(Buffer.from(bytes))
      return outcomes
    } catch (error) {
      if (error instanceof SearchStoreUnavailable) return 'unanswered'
      throw error
    }
  }

  const writeRows = async (batch: RowBatch): Promise<boolean> => {
    const { bulkPacked } = store
    const packed = bulkPacked && pack(batch)
    if (bulkPacked === undefined || packed === undefined) return write(asDocuments(batch))
    const outcomes = await sendPacked(bulkPacked, packed.bulk)
    return outcomes === 'created' ? allCreated(batch.rows.length, packed.homes) : write(asDocuments(batch), outcomes)
  }

  return {
    async prepare() {
      await installIndexTemplates(store, settings)
      await addLogFields(store, log)
      aliases.start()
    },
    write: batch => (batch.isHeavy ? heavyWrites(() => write(batch)) : write(batch)),
    writeRows: batch => (batch.isHeavy ? heavyWrites(() => writeRows(batch)) : writeRows(batch)),
  }
}

/** The documents of a batch. */
interface Built<R> {
  readonly operations: readonly BulkOperation[]
  /** Where each operation comes from. */
  readonly origins: readonly R[]
  readonly tenants: readonly string[]
}

/** Gives up records that have no document. */
function build<R>({ records, documentOf, giveUp }: DocumentBatch<R>, builder: DocumentBuilder): Built<R> {
  const operations: BulkOperation[] = []
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

function asDocuments({ rows, isHeavy, flagsOf, giveUp }: RowBatch): DocumentBatch<FlatRow> {
  return { records: rows, isHeavy, documentOf: (builder, row) => builder.log(row, flagsOf(row)), giveUp }
}

/** Aliases outlive the work: a batch that failed keeps none from being made. */
export function openLogAliases({ count, clock, log, signal }: ThreadDeps, store: SearchStore): LogAliases {
  return createLogAliases({ store, clock, log, signal, onDelayed: aliases => count('aliasesDelayed', aliases) })
}

interface Packed {
  readonly bulk: PackedBulk
  /** Where the documents go, one for each run of them. */
  readonly homes: readonly DocumentHome[]
}

/** Memory of documents with their ids. */
function packedBytes(rows: readonly FlatRow[]): number {
  let bytes = 0
  for (let i = 0; i < rows.length; i++) bytes += rows[i]!.end - rows[i]!.start + FLAG_BYTES
  return bytes
}

/** A document is its record without a few members, and with three flags. */
function documentBytes(records: readonly { readonly value: Uint8Array }[]): number {
  let bytes = 0
  for (const { value } of records) bytes += value.length + FLAG_BYTES
  return bytes
}
