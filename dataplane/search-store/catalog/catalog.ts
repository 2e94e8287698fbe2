/** All indices, aliases and templates of the store. A change is on disk before it is answered. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../ports/clock.ts'
import { ApiError, illegalArgument, indexNotFound } from '../api-error.ts'
import type { JsonObject } from '../json/json-reader.ts'
import { DocumentRejected } from '../mapping/document-rejected.ts'
import { mappingConfigOf } from '../mapping/mapping-config.ts'
import type { DocumentDatabase } from '../storage/document-table/document-database.ts'
import type { IndexStorage } from '../storage/index-storage.ts'
import { Turns } from '../turns.ts'
import type { AliasConfig } from './alias.ts'
import { type Aliases, AliasTable, aliasEntryName, parseAliasEntry } from './alias-table.ts'
import { datedNames } from './dated-names.ts'
import { EqualMappings } from './equal-mappings.ts'
import { checkIndexName, invalidIndexName } from './index-name.ts'
import { OperationCounts } from './operation-counts.ts'
import { type ResolvedIndex, type ResolveOptions, resolveExpression, STRICT } from './resolve.ts'
import { type Settings, totalFieldsLimit } from './settings.ts'
import type { StorageOpener } from './storage-opener.ts'
import { blueprintFor, type IndexBlueprint, type IndexTemplate, mergeBlueprints, type Templates } from './template.ts'
import { checkOpen, checkWritable, unavailableStorage } from './unavailable-storage.ts'

/** The stored record of an index, beside its documents. */
interface IndexRecord {
  readonly uuid: string
  readonly createdAtMs: number
  readonly settings: Settings
  /** Absent: open. */
  readonly isClosed?: boolean
  /** The mapping with which the index was made; the storage knows the fields that came later. */
  readonly mappings: JsonObject
  /** Aliases, in a store of an older version; `load` gives each an entry of its own. */
  readonly aliases?: Readonly<Record<string, AliasConfig>>
}

export interface CatalogIndex extends Omit<IndexRecord, 'aliases'> {
  readonly name: string
  readonly isClosed: boolean
  readonly isHidden: boolean
  readonly counts: OperationCounts
  readonly storage: IndexStorage
  /** The aliases as they are now; later changes show here, too. */
  readonly aliases: Aliases
}

export type TemplateKind = keyof Templates

export interface AliasChange {
  readonly action: 'add' | 'remove'
  readonly index: string
  readonly alias: string
  readonly config: AliasConfig
}

const INDEX_KIND = 'index'
/** An entry for each alias of each index: a change writes its own entries, not all of them. */
const ALIAS_KIND = 'alias'
const TEMPLATE_KINDS: readonly TemplateKind[] = ['template', 'component_template', 'legacy_template']
const MAX_INDICES = 10_000
/** Daily indices of logs have room even where tenants' indices have used up `MAX_INDICES`. */
const MAX_INDICES_WITH_LOGS = 11_000
const DAILY_LOGS = /^service-logs-\d{4}\.\d\d\.\d\d$/
/** Expressions whose indices are remembered until a name changes, and the longest of them, characters. */
const MAX_REMEMBERED_EXPRESSIONS = 100
const MAX_REMEMBERED_LENGTH = 1_000

export class Catalog {
  readonly #database: DocumentDatabase
  readonly #storages: StorageOpener
  readonly #clock: Clock
  readonly #indices = new Map<string, CatalogIndex & { readonly aliases: Map<string, AliasConfig> }>()
  readonly #aliases = new AliasTable()
  readonly #mappings = new EqualMappings()
  /** Indices that expressions stood for since the last change of a name, by options and expression. */
  readonly #resolved = new Map<string, readonly ResolvedIndex<CatalogIndex>[]>()
  readonly #templates: Readonly<Record<TemplateKind, Map<string, IndexTemplate>>> = {
    template: new Map(),
    component_template: new Map(),
    legacy_template: new Map(),
  }
  /** Indices that are being made, so that concurrent requests wait for the same one. */
  readonly #creating = new Map<string, Promise<CatalogIndex>>()

  constructor(database: DocumentDatabase, storages: StorageOpener, clock: Clock) {
    this.#database = database
    this.#storages = storages
    this.#clock = clock
  }

  /**
   * Opens every index, and removes what an interrupted creation or deletion left behind. An index that cannot be opened is listed with a
   * storage that says why; the other indices are served.
   */
  async load(): Promise<void> {
    for (const kind of TEMPLATE_KINDS)
      for (const { name, body } of this.#database.catalogue(kind)) this.#templates[kind].set(name, JSON.parse(body) as IndexTemplate)
    const entries = this.#database.catalogue(INDEX_KIND).map(({ name, body }) => ({ name, record: JSON.parse(body) as IndexRecord }))
    await this.#storages.removeOrphans(new Set(entries.map(({ record }) => record.uuid)))
    this.#moveAliases(entries)
    for (const { name, record } of entries) {
      const { aliases: _moved, ...own } = { ...record, mappings: this.#mappings.of(record.mappings) }
      const storage = await this.#reopen(name, record)
      this.#indices.set(name, { name, ...own, ...stateOf(record), counts: new OperationCounts(), aliases: new Map(), storage })
    }
    for (const { name, body } of this.#database.catalogue(ALIAS_KIND)) {
      const { index, alias } = parseAliasEntry(name)
      this.#indices.get(index)?.aliases.set(alias, JSON.parse(body) as AliasConfig)
      this.#aliases.add(alias, index)
    }
  }

  /** Gives the aliases of older stores, which stand in the records of their indices, entries of their own. */
  #moveAliases(entries: readonly { readonly name: string; readonly record: IndexRecord }[]): void {
    const before = entries.filter(({ record }) => record.aliases !== undefined)
    if (before.length === 0) return
    this.#database.transaction(() => {
      for (const { name, record } of before) {
        const { aliases = {}, ...own } = record
        for (const [alias, config] of Object.entries(aliases)) this.#putAlias(name, alias, config)
        this.#database.putEntry(INDEX_KIND, name, JSON.stringify(own))
      }
    })
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#creating.values())
    for (const index of this.#indices.values()) await index.storage.close()
  }

  /** Housekeeping of the storages; to be called now and then. */
  async maintain(): Promise<void> {
    for (const { storage } of this.indices) await storage.maintain?.()
  }

  /** The indices that could not be opened. */
  get red(): readonly CatalogIndex[] {
    return this.indices.filter(({ storage }) => storage.problem !== undefined)
  }

  get indices(): readonly CatalogIndex[] {
    return [...this.#indices.values()]
  }

  find(name: string): CatalogIndex | undefined {
    return this.#indices.get(datedNames(name, this.#clock.nowMs()))
  }

  resolve(given: string, options: ResolveOptions = STRICT): readonly ResolvedIndex<CatalogIndex>[] {
    const expression = datedNames(given, this.#clock.nowMs())
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
    return resolveExpression(expression, { indices: this.#indices, aliases: this.#aliases }, options)
  }

  /** The one index that an operation on a single document means. Throws 404, or 400 when an alias names several. */
  readTarget(given: string): CatalogIndex {
    const name = datedNames(given, this.#clock.nowMs())
    const index = this.#indices.get(name)
    if (index !== undefined) return checkOpen(index)
    const aliased = this.#aliased(name)
    if (aliased.length === 0) throw indexNotFound(name, 'index_expression')
    if (aliased.length === 1) return checkOpen(aliased[0]!)
    throw illegalArgument(
      `alias [${name}] has more than one index associated with it [${aliased.map(each => each.name).join(', ')}], can't execute a single index op`,
    )
  }

  /** The index that documents sent to a name go to; made from the templates where there is none. Throws 503 for one that could not be opened. */
  writeTarget(given: string): CatalogIndex | Promise<CatalogIndex> {
    const name = datedNames(given, this.#clock.nowMs())
    const index = this.#indices.get(name)
    if (index !== undefined) return checkWritable(index)
    const aliased = this.#aliased(name)
    if (aliased.length === 0) return this.#creating.get(name) ?? this.create(name, { settings: {}, mappings: {}, aliases: {} })
    const writable = aliased.filter(each => each.aliases.get(name)!.is_write_index === true)
    if (writable.length === 1) return checkWritable(writable[0]!)
    if (aliased.length === 1 && aliased[0]!.aliases.get(name)!.is_write_index !== false) return checkWritable(aliased[0]!)
    throw illegalArgument(
      `no write index is defined for alias [${name}]. The write index may be explicitly disabled using is_write_index=false ` +
        'or the alias points to multiple indices without one being designated as a write index',
    )
  }

  isAlias(name: string): boolean {
    return this.#aliases.has(name)
  }

  /** Throws 400 for a name that is not valid or taken. */
  async create(given: string, asked: IndexBlueprint): Promise<CatalogIndex> {
    const name = datedNames(given, this.#clock.nowMs())
    checkIndexName(name)
    const pending = this.#creating.get(name)
    if (pending !== undefined) await pending
    const existing = this.#indices.get(name)
    if (existing !== undefined)
      throw new ApiError(400, 'resource_already_exists_exception', `index [${name}/${existing.uuid}] already exists`, {
        details: { index: name, index_uuid: existing.uuid },
      })
    if (this.isAlias(name)) throw invalidIndexName(name, 'already exists as alias')
    if (this.#indices.size + this.#creating.size >= (DAILY_LOGS.test(name) ? MAX_INDICES_WITH_LOGS : MAX_INDICES)) throw noRoom()
    const creation = this.#create(name, asked)
    this.#creating.set(name, creation)
    try {
      return await creation
    } finally {
      this.#creating.delete(name)
    }
  }

  async #create(name: string, asked: IndexBlueprint): Promise<CatalogIndex> {
    const blueprint = mergeBlueprints(blueprintFor(name, this.#templates), asked)
    for (const alias of Object.keys(blueprint.aliases)) this.#checkAliasIsNoIndex(alias, name)
    const record: IndexRecord = {
      uuid: randomBytes(16).toString('base64url'),
      createdAtMs: this.#clock.nowMs(),
      settings: blueprint.settings,
      mappings: this.#mappings.of(blueprint.mappings),
    }
    const storage = await this.#open(name, record).catch((error: unknown) => {
      throw error instanceof DocumentRejected ? new ApiError(400, error.type, error.message) : error
    })
    const aliases = new Map(Object.entries(blueprint.aliases))
    const index = { name, ...record, ...stateOf(record), counts: new OperationCounts(), aliases, storage }
    this.#store([index], () => {
      for (const [alias, config] of aliases) this.#putAlias(name, alias, config)
    })
    for (const alias of aliases.keys()) this.#aliases.add(alias, name)
    return index
  }

  /** Removes the indices for good. One commit decides which indices are left. */
  async delete(names: readonly string[]): Promise<void> {
    const indices = names.flatMap(name => this.#indices.get(name) ?? [])
    this.#database.transaction(() => this.#deleteEntries(indices))
    await this.#remove(indices)
  }

  #deleteEntries(indices: readonly CatalogIndex[]): void {
    for (const { name, aliases } of indices) {
      this.#database.deleteEntry(INDEX_KIND, name)
      if (aliases.size > 0) this.#database.deleteEntriesBelow(ALIAS_KIND, aliasEntryName(name, ''))
    }
  }

  /** Removes the indices whose entries are deleted. */
  async #remove(indices: readonly CatalogIndex[]): Promise<void> {
    this.#resolved.clear()
    for (const { name, aliases } of indices) {
      this.#indices.delete(name)
      for (const alias of aliases.keys()) this.#aliases.remove(alias, name)
    }
    const turns = new Turns()
    for (const { storage } of indices) {
      await storage.destroy()
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
    const removedIndices = removed.flatMap(name => this.#indices.get(name) ?? [])
    this.#database.transaction(() => {
      this.#deleteEntries(removedIndices)
      for (const { action, index, alias, config } of changes)
        if (action === 'add') this.#putAlias(index, alias, config)
        else this.#database.deleteEntry(ALIAS_KIND, aliasEntryName(index, alias))
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

  get allTemplates(): Templates {
    return this.#templates
  }

  templates(kind: TemplateKind): ReadonlyMap<string, IndexTemplate> {
    return this.#templates[kind]
  }

  putTemplate(kind: TemplateKind, name: string, template: IndexTemplate): void {
    this.#database.transaction(() => this.#database.putEntry(kind, name, JSON.stringify(template)))
    this.#templates[kind].set(name, template)
  }

  deleteTemplates(kind: TemplateKind, names: readonly string[]): void {
    this.#database.transaction(() => {
      for (const name of names) this.#database.deleteEntry(kind, name)
    })
    for (const name of names) this.#templates[kind].delete(name)
  }

  #aliased(alias: string): readonly CatalogIndex[] {
    return Array.from(this.#aliases.indicesOf(alias), name => this.#indices.get(name)!)
  }

  #checkAliasIsNoIndex(alias: string, index: string): void {
    if (alias === index || this.#indices.has(alias))
      throw new ApiError(
        400,
        'invalid_alias_name_exception',
        `Invalid alias name [${alias}], an index exists with the same name as the alias`,
      )
  }

  #open(name: string, { uuid, createdAtMs, mappings, settings }: IndexRecord): Promise<IndexStorage> {
    return this.#storages.open({ name, uuid, createdAtMs, mapping: mappingConfigOf(mappings, totalFieldsLimit(settings)) })
  }

  async #reopen(name: string, record: IndexRecord): Promise<IndexStorage> {
    try {
      return await this.#open(name, record)
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      return unavailableStorage({ name, ...record }, problem, () => this.#storages.remove(record.uuid))
    }
  }

  /** Takes part in the caller's transaction. */
  #putAlias(index: string, alias: string, config: AliasConfig): void {
    this.#database.putEntry(ALIAS_KIND, aliasEntryName(index, alias), JSON.stringify(config))
  }

  /** Stores the indices; `andMore` writes more in the same commit. */
  #store(indices: readonly (CatalogIndex & { readonly aliases: Map<string, AliasConfig> })[], andMore?: () => void): void {
    this.#database.transaction(() => {
      for (const { name, storage: _storage, aliases: _aliases, isHidden: _isHidden, counts: _counts, ...record } of indices)
        this.#database.putEntry(INDEX_KIND, name, JSON.stringify(record))
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
