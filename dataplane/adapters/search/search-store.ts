/** The `SearchStore` port over the OpenSearch REST API; serves OpenSearch and the embedded store alike. */

import { IDS_TELL_TIMES, IDS_TELL_TIMES_HEADER } from '../../bulk-port/ids-tell-times.ts'
import { IN_BACKGROUND } from '../../limits/background-queries.ts'
import { LentBuffers } from '../../memory/lent-buffers.ts'
import {
  type BulkOperation,
  type BulkOutcome,
  type IndexHealth,
  type SearchProduct,
  type SearchRequest,
  type SearchResult,
  type SearchStore,
  SearchStoreUnavailable,
  type Version,
  VersionConflict,
  type Versioned,
} from '../../ports/search-store.ts'
import { buildBulkBody } from './bulk-body.ts'
import { BULK_FILTER_PATH, type BulkItemResponse, bulkOutcome, SHARD_TIMEOUT } from './bulk-outcome.ts'
import { createJoinedPuts, type Put, type PutCondition } from './joined-puts.ts'
import { createStoreTransport, type SearchConnectionConfig, type StoreTransport, strangeAnswer } from './transport.ts'

/** A query over an index that is not there (yet) finds nothing, instead of failing. */
const MISSING_IS_EMPTY = { ignore_unavailable: true, allow_no_indices: true }

interface RawHit<T> {
  readonly _index: string
  readonly _id: string
  readonly _seq_no: number
  readonly _primary_term: number
  readonly _source: T
  readonly sort?: readonly (string | number)[]
  readonly fields?: Readonly<Record<string, readonly unknown[]>>
}

/** One document of a `_mget`. */
interface RawGet<T> extends RawHit<T> {
  readonly found?: boolean
  readonly error?: { readonly type: string }
}

interface RawSearch<T> {
  readonly hits: { readonly total?: { readonly value: number }; readonly hits: readonly RawHit<T>[] }
  readonly aggregations?: Readonly<Record<string, unknown>>
  readonly timed_out?: boolean
  readonly _shards?: { readonly total: number; readonly successful: number; readonly failed: number }
}

export function createSearchStore(config: SearchConnectionConfig): SearchStore {
  const transport = createStoreTransport(config)
  const bodies = new LentBuffers()
  const joinedPut = createJoinedPuts(transport, each => put(transport, each))
  return {
    bulk: (operations, options) => bulk(transport, bodies, operations, options?.wantsVersions ?? false),
    search: request => search(transport, request),
    get: (index, id) => get(transport, index, id),
    getMany: (index, ids, fields) => getMany(transport, index, ids, fields),
    put: (index, id, document, condition) => joinedPut({ index, id, body: JSON.stringify(document), condition }),
    async refresh(index) {
      await transport.request({ method: 'POST', path: `/${encode(index)}/_refresh`, query: MISSING_IS_EMPTY, expect: [404] })
    },
    async putIndexTemplate(name, template) {
      await transport.request({ method: 'PUT', path: `/_index_template/${encode(name)}`, body: template })
    },
    async putAliases(index, aliases) {
      const actions = aliases.map(({ name: alias, filter }) => ({ add: { index, alias, filter } }))
      if (actions.length > 0) await transport.request({ method: 'POST', path: '/_aliases', body: { actions } })
    },
    async putMapping(index, properties) {
      const { status } = await transport.request({
        method: 'PUT',
        path: `/${encode(index)}/_mapping`,
        body: { properties },
        expect: [400, 404],
      })
      return status < 300
    },
    async listAliases(index, name) {
      const path = `/${encode(index)}/_alias${name === undefined ? '' : `/${encode(name)}`}`
      const { status, body } = await transport.request({ method: 'GET', path, expect: [404] })
      return status === 404 ? [] : Object.keys((body as Readonly<Record<string, { readonly aliases: object }>>)[index]?.aliases ?? {})
    },
    deleteByQuery: (index, query, maxDocuments) => deleteByQuery(transport, index, query, maxDocuments),
    listIndices: async pattern => (await catIndices(transport, pattern, 'index')).map(({ index }) => index),
    indexSizes: async pattern =>
      // An index whose shards are away has no size.
      new Map((await catIndices(transport, pattern, 'index,store.size')).map(row => [row.index, Number(row['store.size'] ?? 0)])),
    indexCreations: async pattern =>
      new Map((await catIndices(transport, pattern, 'index,creation.date')).map(row => [row.index, Number(row['creation.date'])])),
    async deleteIndex(name) {
      await transport.request({ method: 'DELETE', path: `/${encode(name)}`, expect: [404] })
    },
    product: () => product(transport),
    timeMs: () => timeMs(transport),
    async clusterStatus() {
      const { body } = await transport.request({ method: 'GET', path: '/_cluster/health' })
      const { status } = body as { readonly status?: ClusterStatus }
      if (status === undefined || !CLUSTER_STATUSES.has(status)) throw strangeAnswer('a look at its health')
      return status
    },
    indexHealth: () => indexHealth(transport),
    close: () => transport.close(),
  }
}

type ClusterStatus = Awaited<ReturnType<SearchStore['clusterStatus']>>
const CLUSTER_STATUSES: ReadonlySet<ClusterStatus> = new Set<ClusterStatus>(['green', 'yellow', 'red'])

async function indexHealth(transport: StoreTransport): Promise<ReadonlyMap<string, IndexHealth>> {
  const query = { level: 'indices', filter_path: 'indices.*.status,indices.*.initializing_shards' }
  const { body } = await transport.request({ method: 'GET', path: '/_cluster/health', query })
  const { indices = {} } = body as { readonly indices?: Readonly<Record<string, RawIndexHealth>> }
  return new Map(
    Object.entries(indices).map(([name, { status, initializing_shards }]) => [
      name,
      { isRed: status === 'red', isStarting: initializing_shards > 0 },
    ]),
  )
}

interface RawIndexHealth {
  readonly status: string
  readonly initializing_shards: number
}

/** A store that does not answer within this time counts as not there yet. */
const PRODUCT_TIMEOUT_MS = 5_000

async function product(transport: StoreTransport): Promise<SearchProduct> {
  const { body } = await transport.request({ method: 'GET', path: '/', timeoutMs: PRODUCT_TIMEOUT_MS })
  const { distribution, number = 'unknown' } = (body as { readonly version?: RawVersion }).version ?? {}
  return { distribution, version: number }
}

interface RawVersion {
  readonly distribution?: string
  readonly number?: string
}

/** OpenSearch sends no `Date`. A user without the right to ask gets no time. */
async function timeMs(transport: StoreTransport): Promise<number | undefined> {
  const query = { format: 'json', h: 'epoch' }
  const { body } = await transport.request({ method: 'GET', path: '/_cat/health', query, expect: [400, 401, 403, 404, 405] })
  const seconds = Number((body as readonly { readonly epoch?: string }[])[0]?.epoch ?? Number.NaN)
  return Number.isFinite(seconds) ? seconds * 1_000 : undefined
}

async function bulk(
  transport: StoreTransport,
  bodies: LentBuffers,
  operations: readonly BulkOperation[],
  wantsVersions: boolean,
): Promise<readonly BulkOutcome[]> {
  if (operations.length === 0) return []
  const bulkBody = buildBulkBody(operations, sizeBytes => bodies.take(sizeBytes))
  const query = { filter_path: wantsVersions ? `${BULK_FILTER_PATH},items.*._version` : BULK_FILTER_PATH, timeout: SHARD_TIMEOUT }
  const headers = operations.every(({ idTellsTime }) => idTellsTime === true) ? { [IDS_TELL_TIMES_HEADER]: IDS_TELL_TIMES } : {}
  const { status, body } = await transport.request({ method: 'POST', path: '/_bulk', query, bulkBody, headers, expect: [413] })
  if (status === 413) return tooLarge(operations)
  const { items = [] } = body as { readonly items?: readonly Readonly<Record<string, BulkItemResponse>>[] }
  if (items.length !== operations.length || operations.some(({ action }, i) => typeof items[i]![action]?.status !== 'number'))
    throw strangeAnswer(`${items.length} items to a bulk of ${operations.length}`)
  // With an answer for each operation the store has read all of it.
  bodies.giveBack(bulkBody)
  return operations.map(({ action }, i) => bulkOutcome(action, items[i]![action]!))
}

/** The store refused the request for its size. Smaller requests may pass; a single document that is too large never will. */
function tooLarge(operations: readonly BulkOperation[]): readonly BulkOutcome[] {
  const reason = '413 larger than the search store takes'
  if (operations.length === 1) return [{ status: 'refused', reason }]
  return operations.map(() => ({ status: 'retry', reason, isTooMuch: true }))
}

async function search<T>(transport: StoreTransport, request: SearchRequest): Promise<SearchResult<T>> {
  const { body } = await transport.request({
    method: 'POST',
    path: `/${encode(request.index)}/_search`,
    query: MISSING_IS_EMPTY,
    body: { seq_no_primary_term: true, ...request.body },
    ...(request.isBackground === true && { headers: IN_BACKGROUND }),
  })
  const { hits, aggregations, timed_out: isTimedOut = false, _shards: shards } = body as Partial<RawSearch<T>>
  if (hits === undefined) throw strangeAnswer(`a search of ${request.index}`)
  // OpenSearch does not count shards that are not there as failed.
  const { total: of = 0, successful = of, failed = 0 } = shards ?? {}
  const missing = { shards: Math.max(failed, of - successful), of }
  const isPart = isTimedOut || missing.shards > 0
  if (isPart && request.takesPart !== true) {
    const why = missing.shards > 0 ? `${missing.shards} of ${of} shards did not` : 'it ended the search before its end'
    throw new SearchStoreUnavailable(`search store answered a search of ${request.index} in part: ${why}`)
  }
  return {
    ...(isPart && { missing }),
    total: hits.total?.value ?? 0,
    hits: hits.hits.map(toHit),
    ...(aggregations === undefined ? {} : { aggregations }),
  }
}

/** Answers of many thousand hits come: no copies are made on the way. */
function toHit<T>(raw: RawHit<T>): SearchResult<T>['hits'][number] {
  const hit: Writable<SearchResult<T>['hits'][number]> = versioned(raw)
  if (raw.sort !== undefined) hit.sort = raw.sort
  if (raw.fields !== undefined) hit.fields = raw.fields
  return hit
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

async function deleteByQuery(transport: StoreTransport, index: string, query: object, maxDocuments: number): Promise<number> {
  const { body } = await transport.request({
    method: 'POST',
    path: `/${encode(index)}/_delete_by_query`,
    // Somebody who changes a document meanwhile keeps it, and stops none of the others.
    query: { ...MISSING_IS_EMPTY, conflicts: 'proceed', refresh: true },
    body: { query, max_docs: maxDocuments },
  })
  const { deleted } = body as { readonly deleted?: number }
  if (deleted === undefined) throw strangeAnswer(`a deletion in ${index}`)
  return deleted
}

async function get<T>(transport: StoreTransport, index: string, id: string): Promise<Versioned<T> | undefined> {
  const { status, body } = await transport.request({ method: 'GET', path: documentPath(index, id), expect: [404] })
  return status === 404 ? undefined : versioned(expectVersion(body, `a look at ${index}/${id}`))
}

async function getMany<T>(
  transport: StoreTransport,
  index: string,
  ids: readonly string[],
  fields?: readonly string[],
): Promise<ReadonlyMap<string, Versioned<T>>> {
  if (ids.length === 0) return new Map()
  const { status, body } = await transport.request({
    method: 'POST',
    path: `/${encode(index)}/_mget`,
    query: fields === undefined ? {} : { _source_includes: fields.join(',') },
    body: { ids },
    expect: [404],
  })
  if (status === 404) return new Map()
  const { docs } = body as { readonly docs?: readonly RawGet<T>[] }
  if (docs === undefined) throw strangeAnswer(`a look at documents of ${index}`)
  const failed = docs.find(({ error }) => error !== undefined && error.type !== 'index_not_found_exception')
  if (failed !== undefined) throw new SearchStoreUnavailable(`search store could not read ${index}/${failed._id}: ${failed.error?.type}`)
  return new Map(docs.filter(({ found }) => found === true).map(doc => [doc._id, versioned(doc)]))
}

async function put(transport: StoreTransport, { index, id, body: document, condition }: Put): Promise<Version> {
  const { status, body } = await transport.request({
    method: 'PUT',
    path: documentPath(index, id),
    query: conditionQuery(condition),
    body: document,
    expect: [409],
  })
  if (status === 409) throw new VersionConflict(index, id)
  const { _seq_no: seqNo, _primary_term: primaryTerm } = expectVersion(body, `a write of ${index}/${id}`)
  return { seqNo, primaryTerm }
}

function conditionQuery(condition: PutCondition | undefined): Record<string, string | number> {
  if (condition === undefined) return {}
  if ('only' in condition) return { op_type: 'create' }
  return { if_seq_no: condition.seqNo, if_primary_term: condition.primaryTerm }
}

/** Each document that was read or written has one. */
function expectVersion<T>(body: unknown, what: string): RawHit<T> {
  const hit = body as RawHit<T>
  if (typeof hit._seq_no !== 'number') throw strangeAnswer(what)
  return hit
}

function versioned<T>(hit: RawHit<T>): Versioned<T> {
  return { index: hit._index, id: hit._id, seqNo: hit._seq_no, primaryTerm: hit._primary_term, source: hit._source }
}

function documentPath(index: string, id: string): string {
  return `/${encode(index)}/_doc/${encode(id)}`
}

/** Commas and stars keep their meaning in index expressions. */
function encode(segment: string): string {
  return encodeURIComponent(segment).replaceAll('%2C', ',')
}

interface CatIndex {
  readonly index: string
  readonly 'store.size'?: string | null
  readonly 'creation.date'?: string
}

async function catIndices(transport: StoreTransport, pattern: string, columns: string): Promise<readonly CatIndex[]> {
  const query = { format: 'json', bytes: 'b', h: columns }
  const { status, body } = await transport.request({ method: 'GET', path: `/_cat/indices/${encode(pattern)}`, query, expect: [404] })
  if (status === 404) return []
  if (!Array.isArray(body)) throw strangeAnswer(`a list of ${pattern}`)
  return body
}
