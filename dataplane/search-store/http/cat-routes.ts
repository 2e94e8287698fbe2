/** `_cat/indices`, `_cat/aliases`, `_cat/count`, `_cat/health`, `_cat/templates`, `_cat/nodes`, `_cat/shards`. */

import { text } from 'node:stream/consumers'
import { wildcardPattern } from '../analysis/term-pattern.ts'
import type { CatalogIndex } from '../catalog/catalog.ts'
import { CAT_PARAMETERS, type CatColumn, catReply, showBytes } from './cat-table.ts'
import { statusOf } from './cluster-routes.ts'
import { countAll } from './count-all.ts'
import { INDEX_PARAMETERS, resolveIndices } from './index-parameters.ts'
import { createNameMatcher } from './name-matcher.ts'
import { queryCallOf } from './query-route.ts'
import type { Reply } from './reply.ts'
import type { Call, Route } from './route.ts'
import { CLUSTER_NAME, OPENSEARCH_VERSION } from './version.ts'

function routes(patterns: readonly string[], handle: Route['handle']): readonly Route[] {
  return patterns.map(pattern => ({ methods: ['GET'], pattern, body: 'query', parameters: CAT_PARAMETERS, handle }))
}

export const CAT_ROUTES: readonly Route[] = [
  ...routes(['/_cat/indices', '/_cat/indices/{index}'], catIndices),
  ...routes(['/_cat/aliases', '/_cat/aliases/{name}'], catAliases),
  ...routes(['/_cat/count', '/_cat/count/{index}'], catCount),
  ...routes(['/_cat/health'], catHealth),
  ...routes(['/_cat/templates', '/_cat/templates/{name}'], catTemplates),
  ...routes(['/_cat/nodes'], catNodes),
  ...routes(['/_cat/shards', '/_cat/shards/{index}'], catShards),
]

/** Nothing is known of the documents of an index that could not be opened. */
const ifOpen = ({ storage }: CatalogIndex, text: string): string | null => (storage.problem === undefined ? text : null)

function indexColumns(query: URLSearchParams): readonly CatColumn<CatalogIndex>[] {
  const size = (index: CatalogIndex) => ifOpen(index, showBytes(index.storage.sizeBytes, query))
  return [
    { name: 'health', aliases: ['h'], description: 'current health status', value: index => statusOf([index]) },
    { name: 'status', aliases: ['s'], description: 'open/close status', value: () => 'open' },
    { name: 'index', aliases: ['i', 'idx'], description: 'index name', value: index => index.name },
    { name: 'uuid', aliases: ['id'], description: 'index uuid', value: index => index.uuid },
    { name: 'pri', aliases: ['p', 'shards.primary'], description: 'number of primary shards', isNumber: true, value: () => '1' },
    { name: 'rep', aliases: ['r', 'shards.replica'], description: 'number of replica shards', isNumber: true, value: () => '0' },
    {
      name: 'docs.count',
      aliases: ['dc', 'docsCount'],
      description: 'available docs',
      isNumber: true,
      value: index => ifOpen(index, String(index.storage.docCount)),
    },
    {
      name: 'docs.deleted',
      aliases: ['dd', 'docsDeleted'],
      description: 'deleted docs',
      isNumber: true,
      value: index => ifOpen(index, String(index.storage.deletedCount)),
    },
    { name: 'store.size', aliases: ['ss', 'storeSize'], description: 'store size of primaries & replicas', isNumber: true, value: size },
    { name: 'pri.store.size', description: 'store size of primaries', isNumber: true, value: size },
    {
      name: 'creation.date',
      aliases: ['cd'],
      description: 'index creation date (ms)',
      isExtra: true,
      value: index => String(index.createdAtMs),
    },
    {
      name: 'creation.date.string',
      aliases: ['cds'],
      description: 'index creation date (as string)',
      isExtra: true,
      value: index => new Date(index.createdAtMs).toISOString(),
    },
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
    { name: 'alias', aliases: ['a'], description: 'alias name', value: row => row.alias },
    { name: 'index', aliases: ['i', 'idx'], description: 'index alias points to', value: row => row.index.name },
    { name: 'filter', aliases: ['f', 'fi'], description: 'filter', value: row => (config(row).filter === undefined ? '-' : '*') },
    {
      name: 'routing.index',
      aliases: ['ri', 'routingIndex'],
      description: 'index routing',
      value: row => config(row).index_routing ?? '-',
    },
    {
      name: 'routing.search',
      aliases: ['rs', 'routingSearch'],
      description: 'search routing',
      value: row => config(row).search_routing ?? '-',
    },
    {
      name: 'is_write_index',
      aliases: ['w', 'isWriteIndex'],
      description: 'write index',
      value: row => (config(row).is_write_index === undefined ? '-' : String(config(row).is_write_index)),
    },
  ]
  return catReply(rows, columns, call.query)
}

function clockColumns<Row>(nowMs: number): readonly CatColumn<Row>[] {
  return [
    {
      name: 'epoch',
      aliases: ['t', 'time'],
      description: 'seconds since 1970-01-01 00:00:00',
      value: () => String(Math.floor(nowMs / 1000)),
    },
    {
      name: 'timestamp',
      aliases: ['ts', 'hms', 'hhmmss'],
      description: 'time in HH:MM:SS',
      value: () => new Date(nowMs).toISOString().slice(11, 19),
    },
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
    { name: 'count', aliases: ['dc', 'docs.count', 'docsCount'], description: 'the document count', isNumber: true, value: String },
  ]
  return catReply([count], columns, call.query)
}

function catHealth(call: Call): Promise<Reply> {
  const { indices, red } = call.deps.catalog
  const shards = indices.length - red.length
  const percent = indices.length === 0 ? 100 : (100 * shards) / indices.length
  const text = (name: string, value: string): CatColumn<number> => ({ name, description: name, value: () => value })
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
    { name: 'name', aliases: ['n'], description: 'template name', value: row => row.name },
    {
      name: 'index_patterns',
      aliases: ['t'],
      description: 'template index patterns',
      value: row => `[${row.template.patterns.join(', ')}]`,
    },
    {
      name: 'order',
      aliases: ['o', 'p'],
      description: 'template application order/priority number',
      value: row => String(row.template.priority),
    },
    {
      name: 'version',
      aliases: ['v'],
      description: 'version',
      value: row => (row.template.version === undefined ? null : String(row.template.version)),
    },
    {
      name: 'composed_of',
      aliases: ['c'],
      description: 'component templates comprising index template',
      value: row => (row.kind === 'template' ? '[]' : ''),
    },
  ]
  return catReply(rows, columns, call.query)
}

function catNodes(call: Call): Promise<Reply> {
  const text = (name: string, value: string): CatColumn<string> => ({ name, description: name, value: () => value })
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
    { name: 'index', aliases: ['i', 'idx'], description: 'index name', value: index => index.name },
    { name: 'shard', aliases: ['s', 'sh'], description: 'shard name', value: () => '0' },
    { name: 'prirep', aliases: ['p', 'pr', 'primaryOrReplica'], description: 'primary or replica', value: () => 'p' },
    { name: 'state', aliases: ['st'], description: 'shard state', value: index => ifOpen(index, 'STARTED') ?? 'UNASSIGNED' },
    {
      name: 'docs',
      aliases: ['d', 'dc'],
      description: 'number of docs in shard',
      isNumber: true,
      value: index => ifOpen(index, String(index.storage.docCount)),
    },
    {
      name: 'store',
      aliases: ['sto'],
      description: 'store size of shard',
      isNumber: true,
      value: index => ifOpen(index, showBytes(index.storage.sizeBytes, call.query)),
    },
    { name: 'ip', description: 'ip of node where it lives', value: index => ifOpen(index, '127.0.0.1') },
    { name: 'node', aliases: ['n'], description: 'name of node where it lives', value: index => ifOpen(index, call.deps.nodeName) },
  ]
  return catReply(
    resolveIndices(call).map(({ index }) => index),
    columns,
    call.query,
  )
}
