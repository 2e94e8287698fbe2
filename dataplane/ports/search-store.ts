/** The search store as the product uses it. One adapter (the OpenSearch client) serves OpenSearch and the embedded store. */
import type { PackedBulk } from '../bulk-port/packed-bulk.ts'

export interface BulkOperation {
  /** `create` keeps what is there; `update` merges `body` and inserts `upsert` where nothing is. */
  readonly action: 'create' | 'index' | 'update'
  readonly index: string
  readonly id: string
  /** JSON text of the document (`create`, `index`) or of the partial document (`update`). No line breaks. */
  readonly body: string | Uint8Array
  /** JSON text of the full document, for `update` alone. */
  readonly upsert?: string | Uint8Array
  /** No other document ever has this id at another `timestamp`, the first member of the document. Absent: that is not known. */
  readonly idTellsTime?: true
}

export type BulkOutcome =
  /** `created`: the document was not there before. `version`, where asked for: how often it was written. */
  | { readonly status: 'done'; readonly created: boolean; readonly version?: number }
  /** `create` found the id taken: the same document, written before. */
  | { readonly status: 'exists' }
  /** The store will never take it as it is (mapping conflict, too many fields …). `isMissing`: its index is not there; it may just have been deleted. */
  | { readonly status: 'refused'; readonly reason: string; readonly isMissing?: true }
  /**
   * Not now (429, 503, …). `isTooMuch`: fewer at a time may pass (413, 429); `isBusy`: or as many, later (429). `hasNoRoom`: the index is not there, and the store makes no more of
   * them. `isDown`: this index takes nothing (its shard is away, its writes are blocked), others may.
   */
  | {
      readonly status: 'retry'
      readonly reason: string
      readonly isTooMuch?: true
      readonly isBusy?: true
      readonly hasNoRoom?: true
      readonly isDown?: true
    }

/** The ends of the operations of a packed bulk. */
export interface PackedOutcomes {
  /** `created`: each document was made. Else one for each operation. */
  readonly outcomes: 'created' | readonly BulkOutcome[]
  /** The memory of the bulk, with its content. */
  readonly bytes: ArrayBuffer
}

/** As `GET /` tells it. */
export interface SearchProduct {
  /** `opensearch`; something else names none. */
  readonly distribution: string | undefined
  /** Such as `3.5.0`. */
  readonly version: string
}

export interface Version {
  readonly seqNo: number
  readonly primaryTerm: number
}

export interface Versioned<T> extends Version {
  readonly index: string
  readonly id: string
  readonly source: T
}

export interface SearchRequest {
  readonly index: string
  /** OpenSearch query DSL: query, sort, size, search_after, aggs … */
  readonly body: Readonly<Record<string, unknown>>
  /** No user waits for it: the embedded store lets the queries of users go first. */
  readonly isBackground?: boolean
  /** An answer that lacks a part of the store is taken, and says so. Absent: such an answer rejects with `SearchStoreUnavailable`. */
  readonly takesPart?: true
}

export interface SearchResult<T> {
  /** Where the answer is a part: shards that gave none, of how many; 0 where the store ended the search before its end. */
  readonly missing?: { readonly shards: number; readonly of: number }
  readonly total: number
  readonly hits: readonly (Versioned<T> & {
    readonly sort?: readonly (string | number)[]
    /** The values of each field of `docvalue_fields` that has any. */
    readonly fields?: Readonly<Record<string, readonly unknown[]>>
  })[]
  readonly aggregations?: Readonly<Record<string, unknown>>
}

export interface IndexHealth {
  /** A primary shard is not there. */
  readonly isRed: boolean
  /** A shard is on its way, such as after a restart of the store. */
  readonly isStarting: boolean
}

export interface FilteredAlias {
  readonly name: string
  /** A query: the alias shows the documents that match it, and no others. */
  readonly filter: object
}

export interface SearchStore {
  bulk(operations: readonly BulkOperation[], options?: { readonly wantsVersions?: boolean }): Promise<readonly BulkOutcome[]>
  /**
   * As `bulk`, of operations that lie side by side in memory, which is handed over; without versions. Undefined where the store is in another process.
   * Rejects with `SearchStoreUnavailable` when there is no answer: the memory is gone then.
   */
  readonly bulkPacked?: ((bulk: PackedBulk) => Promise<PackedOutcomes>) | undefined
  /** Missing indices count as empty; those that are there and cannot be read make a part of the answer (`takesPart`). */
  search<T>(request: SearchRequest): Promise<SearchResult<T>>
  /** The latest version, whether refreshed or not; undefined when there is none. */
  get<T>(index: string, id: string): Promise<Versioned<T> | undefined>
  /** The latest versions of the documents that exist, by id; `fields` names the fields that are read. */
  getMany<T>(index: string, ids: readonly string[], fields?: readonly string[]): Promise<ReadonlyMap<string, Versioned<T>>>
  /** Writes one document. `only: 'new'` or a version makes it conditional; a miss throws `VersionConflict`. */
  put(index: string, id: string, document: object, condition?: { readonly only: 'new' } | Version): Promise<Version>
  /** Makes written documents visible to searches. */
  refresh(index: string): Promise<void>
  putIndexTemplate(name: string, template: object): Promise<void>
  /** Adds filtered aliases to an index that exists, all in one step; repeating it changes nothing. */
  putAliases(index: string, aliases: readonly FilteredAlias[]): Promise<void>
  /** The aliases of an index, or whether it has the one of a name; none when there is no such index. */
  listAliases(index: string, name?: string): Promise<readonly string[]>
  /** Deletes at most `maxDocuments` of the documents that match a query, and resolves to their number; missing indices count as empty. */
  deleteByQuery(index: string, query: object, maxDocuments: number): Promise<number>
  /** Adds fields to the indices that an expression names. False when an index has such a field with another type, and perhaps when no index matches. */
  putMapping(index: string, properties: object): Promise<boolean>
  /** Index names that match a wildcard expression. */
  listIndices(pattern: string): Promise<readonly string[]>
  /** Bytes on disk, with all copies, of each index that matches a wildcard expression. */
  indexSizes(pattern: string): Promise<ReadonlyMap<string, number>>
  /** When each index that matches a wildcard expression was made, Unix ms by the store's clock. */
  indexCreations(pattern: string): Promise<ReadonlyMap<string, number>>
  deleteIndex(name: string): Promise<void>
  /** Name and version of the store; rejects when it cannot be reached. */
  product(): Promise<SearchProduct>
  /** The store's own time of day, to the second; undefined where it does not say. Rejects when it cannot be reached. */
  timeMs(): Promise<number | undefined>
  /** Resolves to the cluster status; rejects when the store cannot be reached. */
  clusterStatus(): Promise<'green' | 'yellow' | 'red'>
  /** The health of each index by its name; rejects when the store cannot be reached. */
  indexHealth(): Promise<ReadonlyMap<string, IndexHealth>>
  close(): Promise<void>
}

/** The condition of a conditional write did not hold: another writer was first. */
export class VersionConflict extends Error {
  constructor(index: string, id: string) {
    super(`${index}/${id} was changed by somebody else`)
    this.name = 'VersionConflict'
  }
}

/** The store cannot be reached or is overloaded; trying again later may help. */
export class SearchStoreUnavailable extends Error {
  /** The store answered that it has too much to do (429). */
  readonly isBusy: boolean
  /** The other end closed a kept connection before any byte of an answer, as it may at any time. The request may be done all the same. */
  readonly isOfKeptConnection: boolean
  /** The reason that callers of a service are told. */
  readonly forCallers: string
  constructor(message: string, { cause, isBusy = false, isDiskFull = false, isOfKeptConnection = false }: UnavailableOptions = {}) {
    super(message, { cause })
    this.name = 'SearchStoreUnavailable'
    this.isBusy = isBusy
    this.isOfKeptConnection = isOfKeptConnection
    this.forCallers = isDiskFull ? 'the search store cannot write to its disk' : 'the search store cannot be reached'
  }
}

interface UnavailableOptions extends ErrorOptions {
  readonly isBusy?: boolean
  readonly isDiskFull?: boolean
  readonly isOfKeptConnection?: boolean
}

/** The store understood the request and will not do it. */
export class SearchStoreRefusal extends Error {
  readonly status: number
  /** The index does not exist, and the store is at its limit of indices. */
  readonly hasNoRoom: boolean
  constructor(status: number, message: string, options?: ErrorOptions & { readonly hasNoRoom?: boolean }) {
    super(message, options)
    this.name = 'SearchStoreRefusal'
    this.status = status
    this.hasNoRoom = options?.hasNoRoom ?? false
  }
}
