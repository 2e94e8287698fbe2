/** The search store as the product uses it. One adapter (the OpenSearch client) serves OpenSearch and the embedded store. */

export interface BulkOperation {
  /** `create` keeps what is there; `update` merges `body` and inserts `upsert` where nothing is. */
  readonly action: 'create' | 'index' | 'update'
  readonly index: string
  readonly id: string
  /** JSON text of the document (`create`, `index`) or of the partial document (`update`). No line breaks. */
  readonly body: string | Uint8Array
  /** JSON text of the full document, for `update` alone. */
  readonly upsert?: string | Uint8Array
}

export type BulkOutcome =
  /** `created`: the document was not there before. `version`, where asked for: how often it was written. */
  | { readonly status: 'done'; readonly created: boolean; readonly version?: number }
  /** `create` found the id taken: the same document, written before. */
  | { readonly status: 'exists' }
  /** The store will never take it as it is (mapping conflict, too many fields …). */
  | { readonly status: 'refused'; readonly reason: string }
  /**
   * Not now (429, 503, …). `isTooMuch`: fewer at a time may pass (413, 429). `hasNoRoom`: the index is not there, and the store makes no more of
   * them. `isDown`: this index takes nothing (its shard is away, its writes are blocked), others may.
   */
  | { readonly status: 'retry'; readonly reason: string; readonly isTooMuch?: true; readonly hasNoRoom?: true; readonly isDown?: true }

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
}

export interface SearchResult<T> {
  readonly total: number
  readonly hits: readonly (Versioned<T> & {
    readonly sort?: readonly (string | number)[]
    /** Of `docvalue_fields`: the values of each field that has any. */
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
  /** A query: through the alias only what matches it is seen. */
  readonly filter: object
}

export interface SearchStore {
  bulk(operations: readonly BulkOperation[], options?: { readonly wantsVersions?: boolean }): Promise<readonly BulkOutcome[]>
  /** Missing indices count as empty. */
  search<T>(request: SearchRequest): Promise<SearchResult<T>>
  /** The latest version, whether refreshed or not; undefined when there is none. */
  get<T>(index: string, id: string): Promise<Versioned<T> | undefined>
  /** The latest versions of those that are there, by id; `fields` limits what is read of them. */
  getMany<T>(index: string, ids: readonly string[], fields?: readonly string[]): Promise<ReadonlyMap<string, Versioned<T>>>
  /** Writes one document. `only: 'new'` or a version makes it conditional; a miss throws `VersionConflict`. */
  put(index: string, id: string, document: object, condition?: { readonly only: 'new' } | Version): Promise<Version>
  /** Makes what was written visible to searches. */
  refresh(index: string): Promise<void>
  putIndexTemplate(name: string, template: object): Promise<void>
  /** Adds filtered aliases to an index that exists, all in one step; repeating it changes nothing. */
  putAliases(index: string, aliases: readonly FilteredAlias[]): Promise<void>
  /** The aliases of an index, or whether it has the one of a name; none when there is no such index. */
  listAliases(index: string, name?: string): Promise<readonly string[]>
  /** Deletes at most `maxDocuments` of what matches a query, and tells how many; missing indices count as empty. */
  deleteByQuery(index: string, query: object, maxDocuments: number): Promise<number>
  /** Adds fields to the indices that an expression names; false when one of them has such a field otherwise. None that matches may be false, too. */
  putMapping(index: string, properties: object): Promise<boolean>
  /** Index names that match a wildcard expression. */
  listIndices(pattern: string): Promise<readonly string[]>
  deleteIndex(name: string): Promise<void>
  /** What the store says it is; rejects when it cannot be reached. */
  product(): Promise<SearchProduct>
  /** Resolves to the cluster status; rejects when the store cannot be reached. */
  clusterStatus(): Promise<'green' | 'yellow' | 'red'>
  /** The health of each index by its name; rejects when the store cannot be reached. */
  indexHealth(): Promise<ReadonlyMap<string, IndexHealth>>
  close(): Promise<void>
}

/** The condition of a conditional write did not hold: somebody else was first. */
export class VersionConflict extends Error {
  constructor(index: string, id: string, options?: ErrorOptions) {
    super(`${index}/${id} was changed by somebody else`, options)
    this.name = 'VersionConflict'
  }
}

/** The store cannot be reached or is overloaded; trying again later may help. */
export class SearchStoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SearchStoreUnavailable'
  }
}

/** The store understood the request and will not do it. */
export class SearchStoreRefusal extends Error {
  readonly status: number
  /** The index would have to be made, and the store makes no more of them: it is at its limit. */
  readonly hasNoRoom: boolean
  constructor(status: number, message: string, options?: ErrorOptions & { readonly hasNoRoom?: boolean }) {
    super(message, options)
    this.name = 'SearchStoreRefusal'
    this.status = status
    this.hasNoRoom = options?.hasNoRoom ?? false
  }
}
