/** A `SearchStore` in memory with optimistic versions, for tests of what stands on the port. */
import {
  type BulkOperation,
  type BulkOutcome,
  type SearchRequest,
  type SearchResult,
  type SearchStore,
  SearchStoreRefusal,
  SearchStoreUnavailable,
  type Version,
  VersionConflict,
  type Versioned,
} from '../ports/search-store.ts'
import { comparable, type Document, matcherOf, scorerOf } from './memory-query.ts'

const NO_ROOM = '400 validation_exception: the store in memory is full'

interface Stored {
  readonly seqNo: number
  readonly source: Document
}

export interface MemorySearchStore extends SearchStore {
  /** Every document of one index by id. */
  documents(index: string): ReadonlyMap<string, Document>
  /** While true every call rejects with `SearchStoreUnavailable`. */
  unavailable: boolean
  /** Indices that take and show nothing. */
  readonly red: Set<string>
  /** While true no index is made. */
  isFull: boolean
  /** Called before each conditional write, to let something happen in between. */
  beforePut: ((index: string, id: string) => void | Promise<void>) | undefined
}

export function createMemorySearchStore(): MemorySearchStore {
  const indices = new Map<string, Map<string, Stored>>()
  /** By index; their filters are not kept. */
  const aliases = new Map<string, Set<string>>()
  let seqNo = 0

  /** Keeps `source` itself. */
  function write(index: string, id: string, source: Document): Version & { created: boolean } {
    const documents = indices.get(index) ?? new Map<string, Stored>()
    indices.set(index, documents)
    const created = !documents.has(id)
    documents.set(id, { seqNo: ++seqNo, source })
    return { seqNo, primaryTerm: 1, created }
  }

  function bulkItem({ action, index, id, body, upsert }: BulkOperation): BulkOutcome {
    if (store.red.has(index)) return { status: 'retry', reason: `503 unavailable_shards_exception: ${index}`, isDown: true }
    if (isFullFor(index)) return { status: 'retry', reason: NO_ROOM, hasNoRoom: true }
    const existing = indices.get(index)?.get(id)
    if (action === 'create' && existing !== undefined) return { status: 'exists' }
    const parsed = parse(body)
    if (action !== 'update') return { status: 'done', created: write(index, id, parsed).created }
    if (existing === undefined && upsert === undefined) return { status: 'refused', reason: '404 document_missing_exception' }
    return {
      status: 'done',
      created: write(index, id, existing === undefined ? parse(upsert!) : { ...existing.source, ...parsed }).created,
    }
  }

  const isFullFor = (index: string) => store.isFull && !indices.has(index)

  const store: MemorySearchStore = {
    unavailable: false,
    red: new Set(),
    isFull: false,
    beforePut: undefined,
    documents: index => new Map([...(indices.get(index) ?? [])].map(([id, { source }]) => [id, source])),
    async bulk(operations) {
      assertAvailable(store)
      return operations.map(bulkItem)
    },
    async search<T>(request: SearchRequest) {
      assertAvailable(store)
      assertNotRed(store, request.index)
      const isAsked = expression(request.index)
      const away = [...store.red].filter(isAsked)
      if (away.length > 0 && request.takesPart !== true) throw new SearchStoreUnavailable(`${away.join(', ')} cannot be read`)
      const readable = new Map([...indices].filter(([name]) => !store.red.has(name)))
      const of = [...new Set([...indices.keys(), ...store.red])].filter(isAsked).length
      return { ...search<T>(readable, request), ...(away.length > 0 && { missing: { shards: away.length, of } }) }
    },
    async get<T>(index: string, id: string) {
      assertAvailable(store)
      assertNotRed(store, index)
      const stored = indices.get(index)?.get(id)
      return stored === undefined ? undefined : versioned<T>(index, id, stored)
    },
    async getMany<T>(index: string, ids: readonly string[], fields?: readonly string[]) {
      assertAvailable(store)
      assertNotRed(store, index)
      const found = new Map<string, Versioned<T>>()
      for (const id of ids) {
        const stored = indices.get(index)?.get(id)
        if (stored !== undefined) found.set(id, versioned<T>(index, id, { ...stored, source: pickFields(stored.source, fields) }))
      }
      return found
    },
    async put(index, id, document, condition) {
      assertAvailable(store)
      assertNotRed(store, index)
      await store.beforePut?.(index, id)
      if (isFullFor(index)) throw new SearchStoreRefusal(400, NO_ROOM, { hasNoRoom: true })
      const existing = indices.get(index)?.get(id)
      if (condition !== undefined && ('only' in condition ? existing !== undefined : existing?.seqNo !== condition.seqNo))
        throw new VersionConflict(index, id)
      const { seqNo: written, primaryTerm } = write(index, id, parse(JSON.stringify(document)))
      return { seqNo: written, primaryTerm }
    },
    async refresh() {
      assertAvailable(store)
    },
    async putIndexTemplate() {},
    product: async () => ({ distribution: 'opensearch', version: '3.5.0' }),
    async timeMs() {
      assertAvailable(store)
      return Date.now()
    },
    async putAliases(index, added) {
      assertAvailable(store)
      const own = aliases.get(index) ?? new Set<string>()
      for (const { name } of added) own.add(name)
      aliases.set(index, own)
    },
    async listAliases(index, only) {
      assertAvailable(store)
      return [...(aliases.get(index) ?? [])].filter(name => only === undefined || name === only)
    },
    async deleteByQuery(index, query, maxDocuments) {
      assertAvailable(store)
      const isAsked = expression(index)
      const matches = matcherOf(query as Document)
      const found = [...indices]
        .filter(([name]) => isAsked(name))
        .flatMap(([, documents]) => [...documents].map(([id, { source }]) => ({ documents, id, source })))
        .filter(({ id, source }) => matches(id, source))
        .slice(0, maxDocuments)
      for (const { documents, id } of found) documents.delete(id)
      return found.length
    },
    putMapping: async () => true,
    async listIndices(pattern) {
      return [...indices.keys()].filter(expression(pattern))
    },
    async indexSizes(pattern) {
      const names = [...indices.keys()].filter(expression(pattern))
      return new Map(names.map(name => [name, JSON.stringify([...indices.get(name)!.values()]).length]))
    },
    async indexCreations(pattern) {
      return new Map([...indices.keys()].filter(expression(pattern)).map(name => [name, Date.now()]))
    },
    async deleteIndex(name) {
      indices.delete(name)
    },
    async clusterStatus() {
      assertAvailable(store)
      return store.red.size > 0 ? 'red' : 'green'
    },
    async indexHealth() {
      assertAvailable(store)
      return new Map([...indices.keys(), ...store.red].map(name => [name, { isRed: store.red.has(name), isStarting: false }]))
    },
    async close() {},
  }
  return store
}

function search<T>(indices: ReadonlyMap<string, ReadonlyMap<string, Stored>>, { index, body }: SearchRequest): SearchResult<T> {
  const sort = ([body['sort'] ?? []].flat() as (string | Record<string, unknown>)[]).map(sortField)
  const after = body['search_after'] as readonly unknown[] | undefined
  const query = (body['query'] ?? { match_all: {} }) as Document
  const matches = matcherOf(query)
  const scoreOf = scorerOf(query)
  const isAsked = expression(index)
  const found = [...indices]
    .filter(([name]) => isAsked(name))
    .flatMap(([name, documents]) =>
      [...documents].flatMap(([id, { seqNo, source }]) => {
        const sortValue = ({ field }: SortField) =>
          field === '_score' ? scoreOf(id, source) : comparable(field === '_seq_no' ? seqNo : source[field])
        return matches(id, source) ? [{ name, id, seqNo, source, sort: sort.map(sortValue) }] : []
      }),
    )
    .sort((a, b) => compare(a.sort, b.sort, sort))
  const rest = after === undefined ? found : found.filter(hit => compare(hit.sort, after.map(comparable), sort) > 0)
  const page = rest.slice(0, (body['size'] as number | undefined) ?? 10)
  const aggregations = body['aggs'] === undefined ? {} : { aggregations: aggregate(found, body['aggs'] as AggregationsRequest) }
  const hits = page.map(({ name, id, seqNo, source, sort }) => ({
    ...versioned<T>(name, id, { seqNo, source: pickFields(source, body['_source']) }),
    sort,
  }))
  return { ...aggregations, total: found.length, hits }
}

type AggregationsRequest = Readonly<Record<string, Readonly<Record<string, unknown>>>>
interface Found {
  readonly id: string
  readonly source: Document
}

/** The aggregations that it knows: `terms`, `filter`, and `avg` of times. */
function aggregate(found: readonly Found[], request: AggregationsRequest): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(request).map(([name, each]) => [name, aggregateOne(found, each)]))
}

function aggregateOne(found: readonly Found[], { terms, filter, avg, aggs = {} }: AggregationsRequest[string]): unknown {
  if (filter !== undefined) {
    const matches = matcherOf(filter as Document)
    const matching = found.filter(({ id, source }) => matches(id, source))
    return { doc_count: matching.length, ...aggregate(matching, aggs as AggregationsRequest) }
  }
  if (avg !== undefined) {
    const times = found.flatMap(({ source }) => source[(avg as { field: string }).field] ?? []).map(time => Date.parse(String(time)))
    return { value: times.length === 0 ? null : times.reduce((sum, time) => sum + time, 0) / times.length }
  }
  const { field } = terms as { readonly field: string }
  const groups = Map.groupBy(found, ({ source }) => source[field])
  return { buckets: [...groups].map(([key, { length }]) => ({ key, doc_count: length })) }
}

function pickFields<T>(source: T, fields: unknown): T {
  if (!Array.isArray(fields)) return source
  return Object.fromEntries(Object.entries(source as Document).filter(([name]) => fields.includes(name))) as T
}

interface SortField {
  readonly field: string
  readonly direction: 1 | -1
}

function sortField(entry: string | Record<string, unknown>): SortField {
  if (typeof entry === 'string') return { field: entry, direction: 1 }
  const [field, order] = Object.entries(entry)[0]!
  return { field, direction: order === 'desc' || (order as { order?: string }).order === 'desc' ? -1 : 1 }
}

function compare(a: readonly (string | number)[], b: readonly (string | number)[], sort: readonly SortField[]): number {
  for (const [i, { direction }] of sort.entries()) {
    if (a[i]! < b[i]!) return -direction
    if (a[i]! > b[i]!) return direction
  }
  return 0
}

/** Whether an index name falls under a comma list with stars. */
function expression(pattern: string): (name: string) => boolean {
  const parts = pattern.split(',').map(part => new RegExp(`^${part.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`))
  return name => parts.some(part => part.test(name))
}

function versioned<T>(index: string, id: string, { seqNo, source }: Stored): Versioned<T> {
  return { index, id, seqNo, primaryTerm: 1, source: structuredClone(source) as T }
}

function parse(body: string | Uint8Array): Document {
  return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString())
}

function assertAvailable(store: MemorySearchStore): void {
  if (store.unavailable) throw new SearchStoreUnavailable('the store is switched off')
}

function assertNotRed(store: MemorySearchStore, index: string): void {
  if (store.red.has(index)) throw new SearchStoreUnavailable(`503 no_shard_available_action_exception: ${index}`)
}
