/** A small mutable index: kept in memory for queries, in SQLite for good. */
import type { IndexMapping } from '../../mapping/field-types.ts'
import { createMapping, type MutableMapping, openMapping } from '../../mapping/mapping.ts'
import { type MappingConfig, mappingConfigOf } from '../../mapping/mapping-config.ts'
import { Turns } from '../../turns.ts'
import { type FrozenIndex, frozenFeed } from '../frozen-index.ts'
import type { IndexFeed } from '../index-feed.ts'
import type { IndexStorage, Segment, StoredDocument, WriteError, WriteOp, WriteOutcome } from '../index-storage.ts'
import type { CommitQueue, StagedTable } from './commit-queue.ts'
import type { DocumentDatabase } from './document-database.ts'
import { type Entry, type Stage, stageOperation } from './stage.ts'
import { messagesOf, TableFeed } from './table-feed.ts'
import { TableRuns } from './table-runs.ts'

export interface DocumentTableConfig {
  readonly name: string
  readonly uuid: string
  readonly createdAtMs: number
  /** Used when the table is new; one that exists brings its own. */
  readonly mapping: MappingConfig
}

/** How many deleted documents' versions are remembered. */
const TOMBSTONES = 1000
/** Memory of a document beside its bytes. */
const ENTRY_BYTES = 200

export function openDocumentTable(config: DocumentTableConfig, database: DocumentDatabase, queue: CommitQueue): DocumentTable {
  const row = database.findTable(config.uuid)
  const limit = config.mapping.totalFieldsLimit
  const mapping = row === undefined ? createMapping(config.mapping) : openMapping(mappingConfigOf(JSON.parse(row.mapping), limit))
  const tableId = row?.table_id ?? database.insertTable(config.uuid, JSON.stringify(mapping.toJson()))
  const table = new DocumentTable(config, tableId, mapping, database, queue)
  table.load(row?.next_seq_no ?? 0)
  return table
}

class DocumentTable implements IndexStorage, StagedTable {
  readonly isTable = true
  readonly name: string
  readonly uuid: string
  readonly createdAtMs: number
  readonly #tableId: number
  readonly #mapping: MutableMapping
  readonly #database: DocumentDatabase
  readonly #queue: CommitQueue
  #entries = new Map<string, Entry>()
  /** Made when somebody first asks for segments: queries that are not plain read a copy in a process of their own. */
  #runs: TableRuns | undefined
  #tombstones = new Map<string, number>()
  #nextSeqNo = 0
  /** The next number as the last portion wrote it, which may not count yet. */
  #writtenSeqNo = 0
  #writtenRevision = -1
  #savedRevision = -1
  #deletedCount = 0
  #sizeBytes = 0
  #isDestroyed = false
  readonly #feeds = new Set<TableFeed>()

  constructor(config: DocumentTableConfig, tableId: number, mapping: MutableMapping, database: DocumentDatabase, queue: CommitQueue) {
    this.name = config.name
    this.uuid = config.uuid
    this.createdAtMs = config.createdAtMs
    this.#tableId = tableId
    this.#mapping = mapping
    this.#database = database
    this.#queue = queue
  }

  get mapping(): IndexMapping {
    return this.#mapping
  }

  get docCount(): number {
    return this.#entries.size
  }

  get deletedCount(): number {
    return this.#deletedCount
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Reads the stored documents; once, before anything else. */
  load(nextSeqNo: number): void {
    this.#nextSeqNo = nextSeqNo
    this.#savedRevision = this.#mapping.revision
    for (const row of this.#database.documents(this.#tableId))
      this.#set({ id: row.id, seqNo: row.seq_no, version: row.version, source: row.source })
  }

  apply(ops: readonly WriteOp[]): Promise<readonly WriteOutcome[]> {
    return this.#queue.enqueue(this, ops)
  }

  /** Merges a `properties` object into the mapping and stores it. Throws DocumentRejected where a field would change its type. */
  async putMapping(properties: Readonly<Record<string, unknown>>): Promise<void> {
    this.#mapping.put(properties)
    // A portion that is being committed has taken numbers beyond those that count.
    this.#database.transaction(() => this.#save(Math.max(this.#nextSeqNo, this.#writtenSeqNo)))
    this.#savedRevision = this.#mapping.revision
  }

  newStage(): Stage {
    return { changes: new Map(), nextSeqNo: this.#nextSeqNo }
  }

  stage(op: WriteOp, stage: Stage): WriteOutcome {
    if (this.#isDestroyed) return { error: this.#goneError() }
    return stageOperation(op, {
      stage,
      mapping: this.#mapping,
      current: (id: string) => (stage.changes.has(id) ? stage.changes.get(id) : this.#entries.get(id)),
      deletedVersion: (id: string) => (stage.changes.has(id) ? this.#entries.get(id)?.version : undefined) ?? this.#tombstones.get(id) ?? 0,
    })
  }

  write(stage: Stage): void {
    this.#writtenSeqNo = stage.nextSeqNo
    this.#writtenRevision = this.#mapping.revision
    for (const [id, entry] of stage.changes) {
      if (entry === undefined) this.#database.deleteDocument(this.#tableId, id)
      else this.#database.putDocument(this.#tableId, { id, seq_no: entry.seqNo, version: entry.version, source: entry.source })
    }
    if (stage.nextSeqNo !== this.#nextSeqNo || this.#savedRevision !== this.#mapping.revision) this.#save(stage.nextSeqNo)
  }

  takeBack({ changes }: Stage): void {
    this.write({ changes: new Map([...changes.keys()].map(id => [id, this.#entries.get(id)])), nextSeqNo: this.#nextSeqNo })
    this.#save(this.#nextSeqNo)
  }

  publish(stage: Stage): void {
    for (const [id, entry] of stage.changes) {
      const before = this.#entries.get(id)
      if (before !== undefined) this.#remove(before)
      if (entry !== undefined) this.#set(entry)
      for (const feed of this.#feeds) feed.note(id)
    }
    this.#nextSeqNo = stage.nextSeqNo
    this.#savedRevision = this.#writtenRevision
  }

  get(id: string): StoredDocument | undefined {
    return this.#entries.get(id)
  }

  async getMany<T>(
    ids: readonly string[],
    show: (document: StoredDocument, at: number) => T | Promise<T>,
  ): Promise<readonly (T | undefined)[]> {
    const shown: (T | undefined)[] = []
    const turns = new Turns()
    for (const [at, id] of ids.entries()) {
      const entry = this.#entries.get(id)
      const made = entry === undefined ? undefined : show(entry, at)
      shown.push(made instanceof Promise ? await made : made)
      if (turns.isDue()) await turns.next()
    }
    return shown
  }

  segments(): readonly Segment[] {
    if (this.#runs === undefined) {
      this.#runs = new TableRuns()
      for (const entry of this.#entries.values()) this.#runs.set(entry)
    }
    return this.#runs.segments(this.#mapping, this.#mapping.generation)
  }

  feed(): IndexFeed {
    const feed = new TableFeed(this, this.#mapping, this.#entries, () => this.#feeds.delete(feed))
    this.#feeds.add(feed)
    return feed
  }

  /** Entries do not change, they are replaced. */
  freeze(): FrozenIndex {
    const { name, uuid } = this
    const entries = [...this.#entries]
    const mappings = this.#mapping.toJson()
    const messages = () => messagesOf({ kind: 'table', name, uuid }, true, mappings, entries)
    return { name, uuid, files: [], memoryBytes: this.#sizeBytes + ENTRY_BYTES * entries.length, feed: () => frozenFeed(messages) }
  }

  async close(): Promise<void> {
    await this.#queue.settled()
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true
    await this.#queue.settled()
    this.#database.transaction(() => this.#database.deleteTable(this.#tableId))
    this.#entries.clear()
    this.#mapping.release()
    this.#runs = undefined
  }

  #goneError(): WriteError {
    return { type: 'index_not_found_exception', reason: `no such index [${this.name}]`, status: 404 }
  }

  #save(nextSeqNo: number): void {
    this.#database.saveTable(this.#tableId, nextSeqNo, JSON.stringify(this.#mapping.toJson()))
  }

  #set(entry: Entry): void {
    this.#entries.set(entry.id, entry)
    this.#sizeBytes += entry.source.length
    this.#runs?.set(entry)
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.id)
    this.#runs?.delete(entry.id)
    this.#sizeBytes -= entry.source.length
    this.#deletedCount++
    this.#tombstones.set(entry.id, entry.version + 1)
    if (this.#tombstones.size > TOMBSTONES) for (const oldest of this.#tombstones.keys()) return void this.#tombstones.delete(oldest)
  }
}
