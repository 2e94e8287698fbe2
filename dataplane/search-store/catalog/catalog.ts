/** All indices, aliases and templates of the store. A change is on disk before it is answered. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../ports/clock.ts'
import { ApiError, illegalArgument, indexNotFound } from '../api-error.ts'
import { type DeletionReserve, NO_RESERVE } from '../deletion-reserve.ts'
import { isDiskFull } from '../full-disk.ts'
import { DocumentRejected } from '../mapping/document-rejected.ts'
import { mappingConfigOf } from '../mapping/mapping-config.ts'
import type { DocumentDatabase } from '../storage/document-table/document-database.ts'
import type { IndexStorage, WriteOp } from '../storage/index-storage.ts'
import { Turns } from '../turns.ts'
import type { AliasConfig } from './alias.ts'
import { type Aliases, AliasTable } from './alias-table.ts'
import { CatalogEntries, type IndexRecord } from './catalog-entries.ts'
import { backingIndexName, checkStreamName, type DataStream, onlyCreates, streamBlueprint } from './data-stream.ts'
import { datedNames } from './dated-names.ts'
import { EqualMappings } from './equal-mappings.ts'
import { checkIndexName, invalidIndexName } from './index-name.ts'
import { OperationCounts } from './operation-counts.ts'
import { type ResolvedIndex, type ResolveOptions, resolveExpression, STRICT } from './resolve.ts'
import { type Settings, totalFieldsLimit } from './settings.ts'
import type { StorageOpener } from './storage-opener.ts'
import { type NewStreamIndex, StreamTable } from './stream-table.ts'
import { bestTemplate, blueprintFor, checkTimestampField, composed, type IndexBlueprint, mergeBlueprints } from './template.ts'
import { TemplateTable } from './template-table.ts'
import { checkOpen, checkWritable, unavailableStorage } from './unavailable-storage.ts'

export interface CatalogIndex extends IndexRecord {
  readonly name: string
  readonly isClosed: boolean
  readonly isHidden: boolean
  readonly counts: OperationCounts
  readonly storage: IndexStorage
  /** The aliases as they are now; later changes show here, too. */
  readonly aliases: Aliases
}

export interface AliasChange {
  readonly action: 'add' | 'remove'
  readonly index: string
  readonly alias: string
  readonly config: AliasConfig
}

const MAX_INDICES = 10_000
/** Daily indices of logs have room even where tenants' indices have used up `MAX_INDICES`. */
const MAX_INDICES_WITH_LOGS = 11_000
const DAILY_LOGS = /^service-logs-\d{4}\.\d\d\.\d\d$/
/** Expressions whose indices are remembered until a name changes, and the longest of them, characters. */
const MAX_REMEMBERED_EXPRESSIONS = 100
const MAX_REMEMBERED_LENGTH = 1_000

export class Catalog {
  readonly #entries: CatalogEntries
  readonly #storages: StorageOpener
  readonly #clock: Clock
  readonly #indices = new Map<string, CatalogIndex & { readonly aliases: Map<string, AliasConfig> }>()
  readonly #aliases = new AliasTable()
  readonly #streams = new StreamTable()
  readonly #mappings = new EqualMappings()
  /** Indices that expressions stood for since the last change of a name, by options and expression. */
  readonly #resolved = new Map<string, readonly ResolvedIndex<CatalogIndex>[]>()
  readonly templates: TemplateTable
  readonly #reserve: DeletionReserve
  /** Indices that are being made, so that concurrent requests wait for the same one. */
  readonly #creating = new Map<string, Promise<CatalogIndex>>()
  /** Deleted indices whose files are gone; the next deletion forgets them. */
  readonly #removed = new Set<string>()
  #unnamed: readonly string[] = []

  constructor(database: DocumentDatabase, storages: StorageOpener, clock: Clock, reserve: DeletionReserve = NO_RESERVE) {
    this.#reserve = reserve
    this.#entries = new CatalogEntries(database)
    this.templates = new TemplateTable(this.#entries)
    this.#storages = storages
    this.#clock = clock
  }

  /**
   * Opens every index, and removes what an interrupted creation or deletion left behind. An index that cannot be opened is listed with a
   * storage that says why; the other indices are served.
   */
  async load(): Promise<void> {
    const records = this.#entries.indices()
    const deletions = this.#entries.deletions()
    this.#unnamed = await this.#storages.removeOrphans(new Set(Array.from(records.values(), ({ uuid }) => uuid)), deletions)
    if (deletions.size > 0) this.#entries.transaction(() => this.#entries.forgetDeletions(deletions))
    for (const [name, record] of records) {
      const own = { ...record, mappings: this.#mappings.of(record.mappings) }
      const storage = await this.#reopen(name, record)
      this.#indices.set(name, { name, ...own, ...stateOf(record), counts: new OperationCounts(), aliases: new Map(), storage })
    }
    for (const [name, record] of this.#entries.streams()) this.#streams.put(name, record)
    const ofStreams = this.indices.filter(({ dataStream }) => dataStream !== undefined)
    // Their names end with the generation.
    for (const { name, dataStream } of ofStreams.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
      this.#streams.indices.add(dataStream!.name, name)
    for (const { index, alias, config } of this.#entries.aliases()) {
      this.#indices.get(index)?.aliases.set(alias, config)
      this.#aliases.add(alias, index)
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#creating.values())
    for (const index of this.#indices.values()) await index.storage.close()
  }

  /** Housekeeping of the storages; to be called now and then. */
  async maintain(): Promise<void> {
    const failures: unknown[] = []
    for (const { storage } of this.indices) await storage.maintain?.().catch(error => void failures.push(error))
    if (failures.length > 0) throw failures[0]
  }

  /** Directories with documents that belong to no index, and to none that was deleted. */
  get unnamed(): readonly string[] {
    return this.#unnamed
  }

  /** The indices that could not be opened. */
  get red(): readonly CatalogIndex[] {
    return this.indices.filter(({ storage }) => storage.problem !== undefined)
  }

  get indices(): readonly CatalogIndex[] {
    return [...this.#indices.values()]
  }

  find(name: string): CatalogIndex | undefined {
    return this.#indices.get(this.dated(name))
  }

  resolve(given: string, options: ResolveOptions = STRICT): readonly ResolvedIndex<CatalogIndex>[] {
    const expression = this.dated(given)
    if (expression.length > MAX_REMEMBERED_LENGTH) return this.#resolve(expression, options)
    const key = JSON.stringify([options, expression])
    const known = this.#resolved.get(key)
    if (known !== undefined) return known
    const resolved = this.#resolve(expression, options)
    if (this.#resolved.size >= MAX_REMEMBERED_EXPRESSIONS) this.#resolved.clear()
    this.#resolved.set(key, resolved)
    return resolved
  }

  #resolve(expression: string, options: ResolveOptions): readonly ResolvedIndex<CatalogIndex>[] {
    return resolveExpression(expression, { indices: this.#indices, aliases: this.#aliases, streams: this.#streams.indices }, options)
  }

  /** The one index that an operation on a single document means. Throws 404, or 400 when an alias names several. */
  readTarget(given: string): CatalogIndex {
    const name = this.dated(given)
    const index = this.#indices.get(name)
    if (index !== undefined) return checkOpen(index)
    const aliased = this.#aliased(name)
    if (aliased.length === 0) throw indexNotFound(name, 'index_expression')
    if (aliased.length === 1) return checkOpen(aliased[0]!)
    throw illegalArgument(
      `alias [${name}] has more than one index associated with it [${aliased.map(each => each.name).join(', ')}], can't execute a single index op`,
    )
  }

  /**
   * The index that documents sent to a name go to; made from the templates where there is none, a data stream where they say so.
   * Throws 503 for one that could not be opened.
   */
  writeTarget(given: string, action: WriteOp['action']): CatalogIndex | Promise<CatalogIndex> {
    const name = this.dated(given)
    const index = this.#indices.get(name)
    if (index !== undefined) return checkWritable(index)
    if (this.#streams.has(name)) return checkWritable(this.#indices.get(this.#streams.writeIndexOf(name))!)
    if (!this.isAlias(name)) return this.#creating.get(name) ?? this.#createFor(given, action)
    const target = this.writeIndexOf(name)
    if (target !== undefined) return checkWritable(target)
    throw illegalArgument(
      `no write index is defined for alias [${name}]. The write index may be explicitly disabled using is_write_index=false ` +
        'or the alias points to multiple indices without one being designated as a write index',
    )
  }

  /** The index that documents sent to an alias go to; undefined where that is not said. */
  writeIndexOf(alias: string): CatalogIndex | undefined {
    const aliased = this.#aliased(alias)
    const writable = aliased.filter(each => each.aliases.get(alias)!.is_write_index === true)
    if (writable.length === 1) return writable[0]
    return aliased.length === 1 && aliased[0]!.aliases.get(alias)!.is_write_index !== false ? aliased[0] : undefined
  }

  isAlias(name: string): boolean {
    return this.#aliases.has(name)
  }

  /** Whether there is an index, an alias or a data stream of the name. */
  has(name: string): boolean {
    return this.find(name) !== undefined || this.isAlias(name) || this.#streams.has(name)
  }

  /** A name with its date math worked out. */
  dated(name: string): string {
    return datedNames(name, this.#clock.nowMs())
  }

  get streams(): readonly DataStream[] {
    return this.#streams.all
  }

  stream(name: string): DataStream | undefined {
    return this.#streams.find(name)
  }

  /** As the templates say of a name that is not there. */
  #createFor(name: string, action: WriteOp['action']): Promise<CatalogIndex> {
    if (bestTemplate(this.dated(name), this.templates)?.[1].timestampField === undefined)
      return this.create(name, { settings: {}, mappings: {}, aliases: {} })
    if (action !== 'create') throw onlyCreates()
    return this.createStream(name)
  }

  /** Throws 400 for a name that is not valid or taken, or that no template of data streams matches. Resolves with the stream's first index. */
  async createStream(given: string): Promise<CatalogIndex> {
    const name = this.dated(given)
    checkStreamName(name)
    checkIndexName(name)
    const pending = this.#creating.get(name)
    if (pending !== undefined) await pending
    if (this.#streams.has(name)) throw new ApiError(400, 'resource_already_exists_exception', `data_stream [${name}] already exists`)
    if (this.has(name)) throw illegalArgument(`data stream [${name}] conflicts with an index or alias of that name`)
    return this.#whileCreating(name, () => this.#createStreamIndex(name, 1))
  }

  /** Begins a new index, to which documents go from now on. */
  rollOverStream(name: string): Promise<CatalogIndex> {
    const pending = this.#creating.get(name)
    return pending ?? this.#whileCreating(name, () => this.#createStreamIndex(name, this.#streams.find(name)!.generation + 1))
  }

  async #createStreamIndex(name: string, generation: number): Promise<CatalogIndex> {
    const template = bestTemplate(name, this.templates)?.[1]
    const timestampField = template?.timestampField
    if (template === undefined || timestampField === undefined)
      throw illegalArgument(`no matching index template found for data stream [${name}]`)
    const blueprint = streamBlueprint(timestampField, composed(template, this.templates))
    // A component may have changed since the template was checked.
    checkTimestampField(blueprint.mappings, template)
    const index = backingIndexName(name, generation)
    checkIndexName(index)
    if (this.has(index)) throw this.isTaken(index)
    return this.#whileCreating(index, () => this.#create(index, blueprint, { stream: { name, timestampField, generation } }))
  }

  /** Removes data streams with all of their indices. */
  async deleteStreams(names: readonly string[]): Promise<void> {
    // An index that is being made would bring its stream back.
    while (names.some(name => this.#creating.has(name))) await Promise.allSettled(names.map(name => this.#creating.get(name)))
    const indices = names.flatMap(name => this.#streams.find(name)?.indices ?? []).flatMap(name => this.#indices.get(name) ?? [])
    this.#delete(() => {
      for (const name of names) this.#entries.deleteStream(name)
      this.#deleteEntries(indices)
    })
    for (const name of names) this.#streams.remove(name)
    await this.#remove(indices)
  }

  /** Throws 400 for a name that is not valid or taken. */
  async create(given: string, asked: IndexBlueprint): Promise<CatalogIndex> {
    const name = this.dated(given)
    checkIndexName(name)
    const pending = this.#creating.get(name)
    if (pending !== undefined) await pending
    if (this.has(name)) throw this.isTaken(name)
    const [template, best] = bestTemplate(name, this.templates) ?? []
    if (best?.timestampField !== undefined)
      throw illegalArgument(
        `cannot create index with name [${name}], because it matches with template [${template}] that creates data streams only, ` +
          'use create data stream api instead',
      )
    const provided = given === name ? {} : { providedName: given }
    return this.#whileCreating(name, () => this.#create(name, mergeBlueprints(blueprintFor(name, this.templates), asked), provided))
  }

  /** The refusal to make an index of a name that is there. */
  isTaken(name: string): ApiError {
    const existing = this.#indices.get(name)
    if (existing === undefined) return invalidIndexName(name, `already exists as ${this.isAlias(name) ? 'alias' : 'data stream'}`)
    return new ApiError(400, 'resource_already_exists_exception', `index [${name}/${existing.uuid}] already exists`, {
      details: { index: name, index_uuid: existing.uuid },
    })
  }

  /** Requests for the name wait for this one meanwhile. */
  async #whileCreating(name: string, create: () => Promise<CatalogIndex>): Promise<CatalogIndex> {
    if (this.#indices.size + this.#creating.size >= (DAILY_LOGS.test(name) ? MAX_INDICES_WITH_LOGS : MAX_INDICES)) throw noRoom()
    const creation = create()
    this.#creating.set(name, creation)
    try {
      return await creation
    } finally {
      this.#creating.delete(name)
    }
  }

  async #create(
    name: string,
    blueprint: IndexBlueprint,
    { stream, providedName }: { readonly stream?: NewStreamIndex; readonly providedName?: string },
  ): Promise<CatalogIndex> {
    for (const alias of Object.keys(blueprint.aliases)) this.#checkAliasIsNoIndex(alias, name)
    const added = Object.entries(blueprint.aliases).map(([alias, config]): AliasChange => ({ action: 'add', index: name, alias, config }))
    this.#checkWriteIndices(added)
    const record: IndexRecord = {
      uuid: randomBytes(16).toString('base64url'),
      createdAtMs: this.#clock.nowMs(),
      settings: blueprint.settings,
      mappings: this.#mappings.of(blueprint.mappings),
      ...(providedName !== undefined && { providedName }),
      ...(stream !== undefined && { dataStream: { name: stream.name, timestampField: stream.timestampField } }),
    }
    const storage = await this.#open(name, record, false).catch((error: unknown) => {
      throw error instanceof DocumentRejected ? new ApiError(400, error.type, error.message) : error
    })
    try {
      // Another index may have come meanwhile.
      this.#checkWriteIndices(added)
    } catch (error) {
      await storage.destroy()
      throw error
    }
    const aliases = new Map(Object.entries(blueprint.aliases))
    const index = { name, ...record, ...stateOf(record), counts: new OperationCounts(), aliases, storage }
    this.#store([index], () => {
      for (const [alias, config] of aliases) this.#entries.putAlias(name, alias, config)
      if (stream !== undefined)
        this.#entries.putStream(stream.name, { timestampField: stream.timestampField, generation: stream.generation })
    })
    for (const alias of aliases.keys()) this.#aliases.add(alias, name)
    if (stream !== undefined) this.#streams.add(stream, name)
    return index
  }

  /** Removes the indices for good. One commit decides which indices are left. Throws 400 for the index that a data stream writes to. */
  async delete(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const stream = this.#indices.get(name)?.dataStream?.name
      if (stream !== undefined && this.#streams.writeIndexOf(stream) === name)
        throw illegalArgument(`index [${name}] is the write index for data stream [${stream}] and cannot be deleted`)
    }
    const indices = names.flatMap(name => this.#indices.get(name) ?? [])
    this.#delete(() => this.#deleteEntries(indices))
    await this.#remove(indices)
  }

  /** Changes the entries in one commit that makes room: a full disk does not keep it from being made. */
  #delete(change: () => void): void {
    try {
      this.#entries.transaction(change)
    } catch (error) {
      if (!isDiskFull(error) || !this.#reserve.spend()) throw error
      this.#entries.transaction(change)
    }
  }

  #deleteEntries(indices: readonly CatalogIndex[]): void {
    this.#entries.forgetDeletions(this.#removed)
    for (const index of indices) this.#entries.deleteIndex(index)
  }

  /** Removes the indices whose entries are deleted. */
  async #remove(indices: readonly CatalogIndex[]): Promise<void> {
    this.#resolved.clear()
    for (const { name, aliases, dataStream } of indices) {
      this.#indices.delete(name)
      if (dataStream !== undefined) this.#streams.indices.remove(dataStream.name, name)
      for (const alias of aliases.keys()) this.#aliases.remove(alias, name)
    }
    // Their deletions were forgotten in the same commit.
    this.#removed.clear()
    const turns = new Turns()
    for (const { uuid, storage } of indices) {
      await storage.destroy()
      this.#removed.add(uuid)
      if (turns.isDue()) await turns.next()
    }
  }

  /**
   * Makes all of the changes, or none when one is not valid. The indices in `removed` go in the same commit, and are gone when this resolves.
   * The time grows with the number of changes, not with the number of aliases.
   */
  changeAliases(changes: readonly AliasChange[], removed: readonly string[] = []): void | Promise<void> {
    const gone = new Set(removed)
    for (const { action, index, alias } of changes) {
      if (!this.#indices.has(index)) throw indexNotFound(index)
      if (action === 'add' && !gone.has(alias)) this.#checkAliasIsNoIndex(alias, index)
    }
    this.#checkWriteIndices(changes, gone)
    const removedIndices = removed.flatMap(name => this.#indices.get(name) ?? [])
    this.#entries.transaction(() => {
      this.#deleteEntries(removedIndices)
      for (const { action, index, alias, config } of changes)
        if (action === 'add') this.#entries.putAlias(index, alias, config)
        else this.#entries.deleteAlias(index, alias)
    })
    this.#resolved.clear()
    for (const { action, index, alias, config } of changes) {
      const { aliases } = this.#indices.get(index)!
      if (action === 'add') {
        aliases.set(alias, config)
        this.#aliases.add(alias, index)
      } else {
        aliases.delete(alias)
        this.#aliases.remove(alias, index)
      }
    }
    return removedIndices.length === 0 ? undefined : this.#remove(removedIndices)
  }

  /** Throws 400 for a value that no index could be opened with. */
  updateSettings(names: readonly string[], settings: Settings, keepsExisting = false): void {
    totalFieldsLimit(settings)
    this.#change(names, index => ({ settings: keepsExisting ? { ...settings, ...index.settings } : { ...index.settings, ...settings } }))
  }

  /** Closed indices are neither read nor written. */
  setClosed(names: readonly string[], isClosed: boolean): void {
    this.#change(names, () => ({ isClosed }))
  }

  #change(names: readonly string[], change: (index: CatalogIndex) => Partial<Pick<IndexRecord, 'settings' | 'isClosed'>>): void {
    this.#store(
      names
        .flatMap(name => this.#indices.get(name) ?? [])
        .map(index => {
          const changed = { ...index, ...change(index) }
          return { ...changed, ...stateOf(changed) }
        }),
    )
  }

  #aliased(alias: string): readonly CatalogIndex[] {
    return Array.from(this.#aliases.indicesOf(alias), name => this.#indices.get(name)!)
  }

  /** Throws 400 where an alias would have more than one index to write to after the changes. `gone`: indices that go with them. */
  #checkWriteIndices(changes: readonly AliasChange[], gone: ReadonlySet<string> = new Set()): void {
    const written = new Set(
      changes.filter(({ action, config }) => action === 'add' && config.is_write_index === true).map(({ alias }) => alias),
    )
    const indices = new Map(
      Array.from(written, alias => {
        const now = this.#aliased(alias).filter(({ name, aliases }) => !gone.has(name) && aliases.get(alias)!.is_write_index === true)
        return [alias, new Set(now.map(({ name }) => name))] as const
      }),
    )
    for (const { action, index, alias, config } of changes)
      if (action === 'add' && config.is_write_index === true) indices.get(alias)?.add(index)
      else indices.get(alias)?.delete(index)
    for (const [alias, names] of indices)
      if (names.size > 1)
        throw new ApiError(400, 'illegal_state_exception', `alias [${alias}] has more than one write index [${[...names].join(',')}]`)
  }

  #checkAliasIsNoIndex(alias: string, index: string): void {
    if (alias === index || this.#indices.has(alias) || this.#streams.has(alias))
      throw new ApiError(
        400,
        'invalid_alias_name_exception',
        `Invalid alias name [${alias}], an index or data stream exists with the same name as the alias`,
      )
  }

  #open(name: string, { uuid, createdAtMs, mappings, settings, dataStream }: IndexRecord, isThere: boolean): Promise<IndexStorage> {
    const isOfStream = dataStream !== undefined
    const mapping = mappingConfigOf(mappings, totalFieldsLimit(settings))
    return this.#storages.open({ name, uuid, createdAtMs, isOfStream, mapping, isThere })
  }

  async #reopen(name: string, record: IndexRecord): Promise<IndexStorage> {
    try {
      return await this.#open(name, record, true)
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      return unavailableStorage({ name, ...record }, problem, () => this.#storages.remove(record.uuid))
    }
  }

  /** Stores the indices; `andMore` writes more in the same commit. */
  #store(indices: readonly (CatalogIndex & { readonly aliases: Map<string, AliasConfig> })[], andMore?: () => void): void {
    this.#entries.transaction(() => {
      for (const { name, storage: _storage, aliases: _aliases, isHidden: _isHidden, counts: _counts, ...record } of indices)
        this.#entries.putIndex(name, record)
      andMore?.()
    })
    this.#resolved.clear()
    for (const index of indices) this.#indices.set(index.name, index)
  }
}

const stateOf = ({ isClosed = false, settings }: Pick<IndexRecord, 'isClosed' | 'settings'>) => ({
  isClosed,
  isHidden: settings['index.hidden'] === 'true',
})

/** As OpenSearch says it at `cluster.max_shards_per_node`. */
function noRoom(): ApiError {
  const counts = `this cluster currently has [${MAX_INDICES}]/[${MAX_INDICES}] maximum shards open`
  return new ApiError(400, 'validation_exception', `Validation Failed: 1: this action would add [1] total shards, but ${counts};`)
}
