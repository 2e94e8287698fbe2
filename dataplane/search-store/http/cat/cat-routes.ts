/** `_cat/indices`, `_cat/aliases`, `_cat/count`, `_cat/health`, `_cat/templates`, `_cat/shards`, `_cat/segments`, `_cat/recovery`. */
import { text } from 'node:stream/consumers'
import { wildcardPattern } from '../../analysis/term-pattern.ts'
import { illegalArgument } from '../../api-error.ts'
import type { CatalogIndex } from '../../catalog/catalog.ts'
import type { Reply } from '../answer/reply.ts'
import { showBytes } from '../answer/show-bytes.ts'
import { statusOf } from '../indices/index-health.ts'
import { CLUSTER_NAME, NODE_ADDRESS, NODE_ID, OPENSEARCH_VERSION } from '../node-identity.ts'
import { queryCallOf } from '../query-route.ts'
import { booleanParameter, countAll, INDEX_PARAMETERS, resolveIndices, resolveOptions, resolveShown } from '../request/index-parameters.ts'
import { createNameMatcher } from '../request/name-matcher.ts'
import { type Call, type Route, routes } from '../route.ts'
import { CAT_PARAMETERS, type CatColumn, catReply, column, EXTRA, NUMBER } from './cat-table.ts'

export const catRoutes = (patterns: readonly string[], handle: Route['handle']) =>
  routes(['GET'], patterns, CAT_PARAMETERS, call => handle(withFormat(call)))

/** As OpenSearch reads `Accept`: one type and no list of them. */
const ACCEPTS_JSON = /^application\/(json|\*|vnd\.opensearch\+json)\s*(;|$)/i

/** The header `Accept` says how the table is written where the parameter `format` does not. */
function withFormat(call: Call): Call {
  if (call.query.has('format') || !ACCEPTS_JSON.test(call.headers.accept ?? '')) return call
  const query = new URLSearchParams(call.query)
  query.set('format', 'json')
  return { ...call, query }
}

export const CAT_ROUTES: readonly Route[] = [
  ...catRoutes(['/_cat/indices', '/_cat/indices/:index'], catIndices),
  ...catRoutes(['/_cat/aliases', '/_cat/aliases/:name'], catAliases),
  ...catRoutes(['/_cat/count', '/_cat/count/:index'], catCount),
  ...catRoutes(['/_cat/health'], catHealth),
  ...catRoutes(['/_cat/templates', '/_cat/templates/:name'], catTemplates),
  ...catRoutes(['/_cat/segments', '/_cat/segments/:index'], catSegments),
  ...catRoutes(['/_cat/recovery', '/_cat/recovery/:index'], catRecovery),
  ...catRoutes(['/_cat/shards', '/_cat/shards/:index'], catShards),
]

/** Nothing is said of the documents of an index that is closed or could not be opened. */
const ifOpen = ({ storage, isClosed }: CatalogIndex, text: string): string | null =>
  storage.problem === undefined && !isClosed ? text : null

function indexColumns(query: URLSearchParams): readonly CatColumn<CatalogIndex>[] {
  const size = (index: CatalogIndex) => ifOpen(index, showBytes(index.storage.sizeBytes, query))
  return [
    column('health h', 'current health status', index => statusOf([index])),
    column('status s', 'open/close status', index => (index.isClosed ? 'close' : 'open')),
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

const HEALTHS = new Set(['green', 'yellow', 'red'])

function catIndices(call: Call): Promise<Reply> {
  const health = call.query.get('health')?.toLowerCase() ?? null
  if (health !== null && !HEALTHS.has(health)) throw illegalArgument(`unknown cluster health status [${health}]`)
  const indices = resolveShown(call, { expand: 'open,closed' }).map(({ index }) => index)
  return catReply(health === null ? indices : indices.filter(index => statusOf([index]) === health), indexColumns(call.query), call.query)
}

interface AliasRow {
  readonly alias: string
  readonly index: CatalogIndex
}

function catAliases(call: Call): Promise<Reply> {
  const names = (call.path['name'] ?? '*').split(',')
  const isNamed = createNameMatcher(names)
  const { hidden } = resolveOptions(call.query, { expand: 'all' }).expand
  const isShown = ({ aliases }: CatalogIndex, alias: string): boolean =>
    hidden || names.includes(alias) || aliases.get(alias)?.is_hidden !== true || (alias.startsWith('.') && names[0]!.startsWith('.'))
  const rows = call.deps.catalog.indices.flatMap(index =>
    [...index.aliases.keys()].filter(alias => isNamed(alias) && isShown(index, alias)).map(alias => ({ alias, index })),
  )
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
  const hasTime = booleanParameter(call.query, 'ts', true)
  const { indices, red } = call.deps.catalog
  const shards = indices.length - red.length
  const percent = indices.length === 0 ? 100 : (100 * shards) / indices.length
  const text = (name: string, value: string) => column<number>(name, name, () => value)
  return catReply(
    [shards],
    [
      ...(hasTime ? clockColumns<number>(call.deps.clock.nowMs()) : []),
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
  const pattern = wildcardPattern(call.path['name'] ?? '*')
  const rows = (['template', 'legacy_template'] as const).flatMap(kind =>
    [...call.deps.catalog.templates[kind]].filter(([name]) => pattern.test(name)).map(([name, template]) => ({ kind, name, template })),
  )
  type TemplateRow = (typeof rows)[number]
  const columns: readonly CatColumn<TemplateRow>[] = [
    column('name n', 'template name', row => row.name),
    column('index_patterns t', 'template index patterns', row => `[${row.template.patterns.join(', ')}]`),
    column('order o p', 'template application order/priority number', row => String(row.template.priority)),
    column('version v', 'version', row => (row.template.version === undefined ? null : String(row.template.version))),
    column('composed_of c', 'component templates comprising index template', row =>
      row.kind === 'template' ? `[${(row.template.composedOf ?? []).join(', ')}]` : '',
    ),
  ]
  return catReply(rows, columns, call.query)
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
    resolveShown(call, { expand: 'all' }).map(({ index }) => index),
    columns,
    call.query,
  )
}

const YES = (): string => 'true'

/** A segment of an index, by its place. */
interface SegmentRow {
  readonly index: CatalogIndex
  readonly at: number
}

function catSegments(call: Call): Promise<Reply> {
  const rows = resolveIndices(call).flatMap(({ index }): readonly SegmentRow[] =>
    index.storage.problem === undefined
      ? index.storage
          .segments()
          .map((segment, at) => ({ index, at, size: segment.size }))
          .filter(({ size }) => size > 0)
      : [],
  )
  const segment = ({ index, at }: SegmentRow) => index.storage.segments()[at]!
  const columns: readonly CatColumn<SegmentRow>[] = [
    column('index i idx', 'index name', row => row.index.name),
    column('shard s sh', 'shard name', () => '0'),
    column('prirep p pr primaryOrReplica', 'primary or replica', () => 'p'),
    column('ip', 'ip of node where it lives', () => NODE_ADDRESS),
    column('id', 'unique id of node where it lives', () => NODE_ID, EXTRA),
    column('segment seg', 'segment name', row => `_${row.at.toString(36)}`),
    column('generation g gen', 'segment generation', row => String(row.at), NUMBER),
    column('docs.count dc docsCount', 'number of docs in segment', row => String(segment(row).liveCount), NUMBER),
    column(
      'docs.deleted dd docsDeleted',
      'number of deleted docs in segment',
      row => String(segment(row).size - segment(row).liveCount),
      NUMBER,
    ),
    column(
      'size si',
      'segment size',
      row => showBytes(row.index.storage.sizeBytes / row.index.storage.segments().length, call.query),
      NUMBER,
    ),
    column('size.memory sm sizeMemory', 'segment memory', () => '0', NUMBER),
    column('committed ic isCommitted', 'is segment committed', YES),
    column('searchable is isSearchable', 'is segment searched', YES),
    column('version v ver', 'version', () => OPENSEARCH_VERSION),
    column('compound ico isCompound', 'is segment compound', () => 'false'),
  ]
  return catReply(rows, columns, call.query)
}

/** Each index was opened from its own files. */
function catRecovery(call: Call): Promise<Reply> {
  const { query, deps } = call
  const bytes = (index: CatalogIndex) => showBytes(index.storage.sizeBytes, query)
  const plain = (names: string, value: string) => column<CatalogIndex>(names, names.split(' ')[0]!.replaceAll('_', ' '), () => value)
  const columns: readonly CatColumn<CatalogIndex>[] = [
    column('index i idx', 'index name', index => index.name),
    plain('shard s sh', '0'),
    column('start_time start', 'recovery start time', index => new Date(index.createdAtMs).toISOString()),
    column('start_time_millis start_millis', 'recovery start time in epoch milliseconds', index => String(index.createdAtMs), EXTRA),
    plain('time t ti', '0ms'),
    plain('type ty', 'existing_store'),
    plain('stage st', 'done'),
    plain('source_host shost', 'n/a'),
    plain('source_node snode', 'n/a'),
    plain('target_host thost', NODE_ADDRESS),
    plain('target_node tnode', deps.nodeName),
    plain('repository rep', 'n/a'),
    plain('snapshot snap', 'n/a'),
    plain('files f', '0'),
    plain('files_recovered fr', '0'),
    plain('files_percent fp', '100.0%'),
    plain('files_total tf', '0'),
    column('bytes b', 'number of bytes to recover', () => showBytes(0, query)),
    column('bytes_recovered br', 'bytes recovered', () => showBytes(0, query)),
    plain('bytes_percent bp', '100.0%'),
    column('bytes_total tb', 'total number of bytes', bytes),
    plain('translog_ops to', '0'),
    plain('translog_ops_recovered tor', '0'),
    plain('translog_ops_percent top', '100.0%'),
  ]
  const opened = resolveShown(call).filter(({ index }) => index.storage.problem === undefined)
  return catReply(
    opened.map(({ index }) => index),
    columns,
    query,
  )
}
