/** The part of the catalog that is in the database: an entry for each index, alias of an index, data stream and template. */
import type { JsonObject } from '../json/json-reader.ts'
import type { DocumentDatabase } from '../storage/document-table/document-database.ts'
import type { AliasConfig } from './alias.ts'
import type { StreamOfIndex, StreamRecord } from './data-stream.ts'
import type { Settings } from './settings.ts'
import type { IndexTemplate, TemplateKind } from './template.ts'

/** The stored record of an index, beside its documents. */
export interface IndexRecord {
  readonly uuid: string
  readonly createdAtMs: number
  readonly settings: Settings
  /** Absent: open. */
  readonly isClosed?: boolean
  /** The mapping with which the index was made; the storage knows the fields that came later. */
  readonly mappings: JsonObject
  /** With its date math; absent: the name itself. */
  readonly providedName?: string
  /** Absent: of none. */
  readonly dataStream?: StreamOfIndex
}

/** Stores of an older version hold the aliases of an index in its record. */
type StoredIndexRecord = IndexRecord & { readonly aliases?: Readonly<Record<string, AliasConfig>> }

const INDEX_KIND = 'index'
/** An entry for each alias of each index: a change writes its own entries, not all of them. */
const ALIAS_KIND = 'alias'
const STREAM_KIND = 'data_stream'
/** An entry for each index whose files are to go, by its UUID: others that no index names were lost, not deleted. */
const DELETED_KIND = 'deleted'

/** Methods that write take part in the caller's `transaction`. */
export class CatalogEntries {
  readonly #database: DocumentDatabase

  constructor(database: DocumentDatabase) {
    this.#database = database
  }

  /** Commits what `write` wrote, durably, or takes it back when it (or the commit) throws. */
  transaction(write: () => void): void {
    this.#database.transaction(write)
  }

  indices(): ReadonlyMap<string, IndexRecord> {
    const stored = this.#read<StoredIndexRecord>(INDEX_KIND)
    this.#moveAliases(stored)
    return new Map(Array.from(stored, ([name, { aliases: _moved, ...record }]) => [name, record]))
  }

  /** Gives the aliases that stand in the records of their indices entries of their own. */
  #moveAliases(stored: ReadonlyMap<string, StoredIndexRecord>): void {
    const before = [...stored].filter(([, { aliases }]) => aliases !== undefined)
    if (before.length === 0) return
    this.transaction(() => {
      for (const [name, { aliases = {}, ...record }] of before) {
        for (const [alias, config] of Object.entries(aliases)) this.putAlias(name, alias, config)
        this.putIndex(name, record)
      }
    })
  }

  putIndex(name: string, record: IndexRecord): void {
    this.#put(INDEX_KIND, name, record)
  }

  /** Its aliases are deleted with it. */
  deleteIndex({ name, uuid }: { readonly name: string; readonly uuid: string }): void {
    this.#put(DELETED_KIND, uuid, {})
    this.#database.deleteEntry(INDEX_KIND, name)
    this.#database.deleteEntriesBelow(ALIAS_KIND, aliasEntryName(name, ''))
  }

  /** The UUIDs of deleted indices whose files may be there. */
  deletions(): ReadonlySet<string> {
    return new Set(this.#read(DELETED_KIND).keys())
  }

  /** Their files are gone. */
  forgetDeletions(uuids: Iterable<string>): void {
    for (const uuid of uuids) this.#database.deleteEntry(DELETED_KIND, uuid)
  }

  aliases(): readonly { readonly index: string; readonly alias: string; readonly config: AliasConfig }[] {
    return Array.from(this.#read<AliasConfig>(ALIAS_KIND), ([name, config]) => ({ ...parseAliasEntry(name), config }))
  }

  putAlias(index: string, alias: string, config: AliasConfig): void {
    this.#put(ALIAS_KIND, aliasEntryName(index, alias), config)
  }

  deleteAlias(index: string, alias: string): void {
    this.#database.deleteEntry(ALIAS_KIND, aliasEntryName(index, alias))
  }

  streams(): ReadonlyMap<string, StreamRecord> {
    return this.#read(STREAM_KIND)
  }

  putStream(name: string, record: StreamRecord): void {
    this.#put(STREAM_KIND, name, record)
  }

  deleteStream(name: string): void {
    this.#database.deleteEntry(STREAM_KIND, name)
  }

  templates(kind: TemplateKind): Map<string, IndexTemplate> {
    return this.#read(kind)
  }

  putTemplate(kind: TemplateKind, name: string, template: IndexTemplate): void {
    this.#put(kind, name, template)
  }

  deleteTemplate(kind: TemplateKind, name: string): void {
    this.#database.deleteEntry(kind, name)
  }

  #read<T>(kind: string): Map<string, T> {
    return new Map(this.#database.catalogue(kind).map(({ name, body }) => [name, JSON.parse(body) as T]))
  }

  #put(kind: string, name: string, value: object): void {
    this.#database.putEntry(kind, name, JSON.stringify(value))
  }
}

/** The name of an alias's entry; neither name holds a slash. */
const aliasEntryName = (index: string, alias: string): string => `${index}/${alias}`

function parseAliasEntry(name: string): { readonly index: string; readonly alias: string } {
  const slash = name.indexOf('/')
  return { index: name.slice(0, slash), alias: name.slice(slash + 1) }
}
