/** `_cat/indices`, `_cat/aliases`, `_cat/count`, `_cat/health`, `_cat/templates`, `_cat/nodes`, `_cat/shards`. */

import { text } from 'node:stream/consumers'
import { wildcardPattern } from '../analysis/term-pattern.ts'
import type { CatalogIndex } from '../catalog/catalog.ts'
import { CAT_PARAMETERS, type CatColumn, catReply, column, showBytes } from './cat-table.ts'
import { statusOf } from './cluster-routes.ts'
import { countAll, INDEX_PARAMETERS, resolveIndices } from './index-parameters.ts'
import { createNameMatcher } from './name-matcher.ts'
import { queryCallOf } from './query-route.ts'
import type { Reply } from './reply.ts'
import { type Call, type Route, routes } from './route.ts'
import { CLUSTER_NAME, OPENSEARCH_VERSION } from './version.ts'

const get = (patterns: readonly string[], handle: Route['handle']) => routes(['GET'], patterns, CAT_PARAMETERS, handle)

export const CAT_ROUTES: readonly Route[] = [
  ...get(['/_cat/indices', '/_cat/indices/:index'], catIndices),
  ...get(['/_cat/aliases', '/_cat/aliases/:name'], catAliases),
  ...get(['/_cat/count', '/_cat/count/:index'], catCount),
  ...get(['/_cat/health'], catHealth),
  ...get(['/_cat/templates', '/_cat/templates/:name'], catTemplates),
  ...get(['/_cat/nodes'], catNodes),
  ...get(['/_cat/shards', '/_cat/shards/:index'], catShards),
]

/** Nothing is known of the documents of an index that could not be opened. */
const ifOpen = ({ storage }: CatalogIndex, text: string): string | null => (storage.problem === undefined ? text : null)

const NUMBER = { isNumber: true }
const EXTRA = { isExtra: true }

function indexColumns(query: URLSearchParams): readonly CatColumn<CatalogIndex>[] {
  const size = (index: CatalogIndex) => ifOpen(index, showBytes(index.storage.sizeBytes, query))
  return [
    column('health h', 'current health status', index => statusOf([index])),
    column('status s', 'open/close status', () => 'open'),
    column('index i idx', 'index name', index => index.name),
    column('uuid id', 'index uuid', index => index.uuid),
    column('pri p shards.primary', 'number of primary shards', () => '1', NUMBER),
    column('rep r shards.replica', 'number of replica shards', () => '0', NUMBER),
    column('docs.count dc docsCount', 'available docs', index => ifOpen(index, String(index.storage.docCount)), NUMBER),
    column('docs.deleted dd docsDeleted', 'deleted docs', index => ifOpen(index, String(index.storage.deletedCount)), NUMBER),
    column('store.size ss storeSize', 'store size of primaries & replicas', size, NUMBER),
    column('pri.store.size', 'store size of primaries', size, NUMBER),
    column('creation.date cd', 'index creation date (ms)', index => String(index.createdAtMs), EXTRA),
    column('creation.date.string cds', 'index creation date (as string)', index => new Date(index.createdAtMs).toISOString(), EXTRA),
  ]
}

function catIndices(call: Call): Promise<Reply> {
  const health = call.query.get('health')
  const indices = resolveIndices(call).map(({ index }) => index)
  return catReply(health === null ? indices : indices.filter(index => statusOf([index]) === health), indexColumns(call.query), call.query)
}

interface AliasRow {
  readonly alias: string
  readonly index: CatalogIndex
}

function catAliases(call: Call): Promise<Reply> {
  const isNamed = createNameMatcher((call.path['name'] ?? '*').split(','))
  const rows = call.deps.catalog.indices.flatMap(index => [...index.aliases.keys()].filter(isNamed).map(alias => ({ alias, index })))
  const config = ({ alias, index }: AliasRow) => index.aliases.get(alias)!
  const columns: readonly CatColumn<AliasRow>[] = [
    column('alias a', 'alias name', row => row.alias),
    column('index i idx', 'index alias points to', row => row.index.name),
    column('filter f fi', 'filter', row => (config(row).filter === undefined ? '-' : '*')),
    column('routing.index ri routingIndex', 'index routing', row => config(row).index_routing ?? '-'),
    column('routing.search rs routingSearch', 'search routing', row => config(row).search_routing ?? '-'),
    column('is_write_index w isWriteIndex', 'write index', row => String(config(row).is_write_index ?? '-')),
  ]
  return catReply(rows, columns, call.query)
}

function clockColumns<Row>(nowMs: number): readonly CatColumn<Row>[] {
  return [
    column('epoch t time', 'seconds since 1970-01-01 00:00:00', () => String(Math.floor(nowMs / 1000))),
    column('timestamp ts hms hhmmss', 'time in HH:MM:SS', () => new Date(nowMs).toISOString().slice(11, 19)),
  ]
}

/** Where an alias shows a part of its index. */
async function countThroughAliases(call: Call): Promise<number> {
  const parameters = new URLSearchParams([...call.query].filter(([name]) => INDEX_PARAMETERS.includes(name)))
  const query = { ...queryCallOf(call, 'count'), parameters, body: Buffer.alloc(0), acceptsGzip: false }
  const { pieces } = await call.deps.queries.run(query, call.signal)
  const { count } = JSON.parse(await text(pieces)) as { readonly count: number }
  return count
}

async function catCount(call: Call): Promise<Reply> {
  const count = countAll(call) ?? (await countThroughAliases(call))
  const columns: readonly CatColumn<number>[] = [
    ...clockColumns<number>(call.deps.clock.nowMs()),
    column('count dc docs.count docsCount', 'the document count', String, NUMBER),
  ]
  return catReply([count], columns, call.query)
}

function catHealth(call: Call): Promise<Reply> {
  const { indices, red } = call.deps.catalog
  const shards = indices.length - red.length
  const percent = indices.length === 0 ? 100 : (100 * shards) / indices.length
  const text = (name: string, value: string) => column<number>(name, name, () => value)
  return catReply(
    [shards],
    [
      ...clockColumns<number>(call.deps.clock.nowMs()),
      text('cluster', CLUSTER_NAME),
      text('status', statusOf(indices)),
      text('node.total', '1'),
      text('node.data', '1'),
      text('discovered_cluster_manager', 'true'),
      text('shards', String(shards)),
      text('pri', String(shards)),
      text('relo', '0'),
      text('init', '0'),
      text('unassign', String(red.length)),
      text('pending_tasks', '0'),
      text('max_task_wait_time', '-'),
      text('active_shards_percent', `${percent.toFixed(1)}%`),
    ],
    call.query,
  )
}

function catTemplates(call: Call): Promise<Reply> {
  const pattern = wildcardPattern(call.path['name'] ?? '*', false)
  const rows = (['template', 'legacy_template'] as const).flatMap(kind =>
    [...call.deps.catalog.templates(kind)].filter(([name]) => pattern.test(name)).map(([name, template]) => ({ kind, name, template })),
  )
  type TemplateRow = (typeof rows)[number]
  const columns: readonly CatColumn<TemplateRow>[] = [
    column('name n', 'template name', row => row.name),
    column('index_patterns t', 'template index patterns', row => `[${row.template.patterns.join(', ')}]`),
    column('order o p', 'template application order/priority number', row => String(row.template.priority)),
    column('version v', 'version', row => (row.template.version === undefined ? null : String(row.template.version))),
    column('composed_of c', 'component templates comprising index template', row => (row.kind === 'template' ? '[]' : '')),
  ]
  return catReply(rows, columns, call.query)
}

function catNodes(call: Call): Promise<Reply> {
  const text = (name: string, value: string) => column<string>(name, name, () => value)
  return catReply(
    [call.deps.nodeName],
    [
      text('ip', '127.0.0.1'),
      text('node.role', 'dim'),
      text('node.roles', 'cluster_manager,data,ingest'),
      text('cluster_manager', '*'),
      text('name', call.deps.nodeName),
      { ...text('version', OPENSEARCH_VERSION), isExtra: true },
    ],
    call.query,
  )
}

function catShards(call: Call): Promise<Reply> {
  const columns: readonly CatColumn<CatalogIndex>[] = [
    column('index i idx', 'index name', index => index.name),
    column('shard s sh', 'shard name', () => '0'),
    column('prirep p pr primaryOrReplica', 'primary or replica', () => 'p'),
    column('state st', 'shard state', index => ifOpen(index, 'STARTED') ?? 'UNASSIGNED'),
    column('docs d dc', 'number of docs in shard', index => ifOpen(index, String(index.storage.docCount)), NUMBER),
    column('store sto', 'store size of shard', index => ifOpen(index, showBytes(index.storage.sizeBytes, call.query)), NUMBER),
    column('ip', 'ip of node where it lives', index => ifOpen(index, '127.0.0.1')),
    column('node n', 'name of node where it lives', index => ifOpen(index, call.deps.nodeName)),
  ]
  return catReply(
    resolveIndices(call).map(({ index }) => index),
    columns,
    call.query,
  )
}
