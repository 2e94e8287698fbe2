/** `_nodes`: the one node there is, and its figures. */

import { statfsSync } from 'node:fs'
import { freemem, loadavg, totalmem, uptime } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { residentBytes } from '../../../memory/resident-bytes.ts'
import { wildcardPattern } from '../../analysis/term-pattern.ts'
import { illegalArgument, unsupported } from '../../api-error.ts'
import { nestSettings } from '../../catalog/settings.ts'
import { ok, type Reply } from '../answer/reply.ts'
import { INDEX_METRICS, statsOf } from '../indices/index-stats.ts'
import { CLUSTER_NAME, NODE_ADDRESS, NODE_ID, OPENSEARCH_VERSION } from '../node-identity.ts'
import { readMetrics } from '../request/did-you-mean.ts'
import { NODE_PARAMETERS } from '../request/index-parameters.ts'
import { type Call, type Deps, type Route, routes } from '../route.ts'

const INFO_PARAMETERS = [...NODE_PARAMETERS, 'flat_settings']
const STATS_PARAMETERS = [...NODE_PARAMETERS, 'fields', 'include_segment_file_sizes', 'types', 'groups', 'level']

export const NODE_ROUTES: readonly Route[] = [
  ...routes(['GET'], ['/_nodes/stats', '/_nodes/stats/:metric', '/_nodes/stats/:metric/:index_metric'], STATS_PARAMETERS, showStats),
  ...routes(
    ['GET'],
    ['/_nodes/:node/stats', '/_nodes/:node/stats/:metric', '/_nodes/:node/stats/:metric/:index_metric'],
    STATS_PARAMETERS,
    showStats,
  ),
  ...routes(['GET'], ['/_nodes', '/_nodes/:filter', '/_nodes/:node/:metric'], INFO_PARAMETERS, showInfo),
]

const SELF = new Set(['_all', '_local', '_master', '_cluster_manager', NODE_ID, NODE_ADDRESS, 'data:true', 'ingest:true', 'master:true'])

/** Whether an expression such as `_local` or `node-*` means the node. */
export function meansNode(expression: string | undefined, { nodeName }: Pick<Deps, 'nodeName'>): boolean {
  if (expression === undefined) return true
  return expression.split(',').some(part => SELF.has(part) || wildcardPattern(part).test(nodeName))
}

function nodesReply(call: Call, node: Record<string, unknown>): Reply {
  const isMeant = meansNode(call.path['node'], call.deps)
  const count = isMeant ? 1 : 0
  return ok({
    _nodes: { total: count, successful: count, failed: 0 },
    cluster_name: CLUSTER_NAME,
    nodes: isMeant ? { [NODE_ID]: node } : {},
  })
}

const identityOf = ({ nodeName }: Deps) => ({
  ...{ name: nodeName, transport_address: `${NODE_ADDRESS}:9300`, host: NODE_ADDRESS, ip: NODE_ADDRESS },
})

const ROLES = ['cluster_manager', 'data', 'ingest']

type Sections = Readonly<Record<string, (call: Call) => unknown>>

const INFO: Sections = {
  settings: ({ deps, query }) => {
    const flat = {
      ...{ 'cluster.name': CLUSTER_NAME, 'node.name': deps.nodeName, 'client.type': 'node' },
      ...{ 'http.type.default': 'node', 'transport.type.default': 'none', 'path.home': deps.dir, 'path.logs': deps.dir },
    }
    const isFlat = query.has('flat_settings') && query.get('flat_settings') !== 'false'
    return isFlat ? flat : nestSettings(flat)
  },
  os: () => ({ name: process.platform, arch: process.arch }),
  process: () => ({ refresh_interval_in_millis: 1_000, id: process.pid, mlockall: false }),
  transport: () => ({ bound_address: [`${NODE_ADDRESS}:9300`], publish_address: `${NODE_ADDRESS}:9300`, profiles: {} }),
  http: ({ headers }) => {
    const address = headers.host ?? `${NODE_ADDRESS}:9200`
    return { bound_address: [address], publish_address: address }
  },
  plugins: () => [],
  modules: () => [],
  ingest: () => ({ processors: [] }),
}

function showInfo(call: Call): Reply {
  const { filter } = call.path
  // One part of the path is a node, or the sections that are asked for.
  const isMetric = filter?.split(',').every(part => Object.hasOwn(INFO, part) || part === '_all') === true
  const known = Object.keys(INFO)
  for (const part of (call.path['metric'] ?? '').split(',')) if (ELSEWHERE.has(part)) throw unsupported(`section [${part}] of [_nodes]`)
  if (filter !== undefined && ELSEWHERE.has(filter)) throw unsupported(`section [${filter}] of [_nodes]`)
  const metrics = readMetrics(isMetric ? filter : call.path['metric'], known, `/_nodes/${filter ?? ''}`)
  const own = isMetric ? call : { ...call, path: { ...call.path, ...(filter !== undefined && { node: filter }) } }
  return nodesReply(own, {
    ...identityOf(call.deps),
    ...{ version: OPENSEARCH_VERSION, build_type: 'embedded', build_hash: 'logpipeline', roles: ROLES, attributes: {} },
    ...sectionsOf(INFO, metrics, call),
  })
}

/** Sections that a Java process has, and this one has not. */
const ELSEWHERE = new Set(['jvm', 'thread_pool', 'aggregations', 'search_pipelines', 'analysis', 'usage', 'hot_threads'])

const sectionsOf = (sections: Sections, names: ReadonlySet<string>, call: Call): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(sections)
      .filter(([name]) => names.has(name))
      .map(([name, of]) => [name, of(call)]),
  )

/** As OpenSearch shows a figure that its system does not tell. */
const UNKNOWN = -1

const STATS: Sections = {
  indices: ({ deps, path, query }) => {
    const metrics = readMetrics(path['index_metric'], INDEX_METRICS, '/_nodes/stats/indices')
    if (query.get('include_segment_file_sizes') === 'true') throw unsupported('parameter [include_segment_file_sizes]')
    const level = query.get('level') ?? 'node'
    if (level === 'shards') throw unsupported('parameter [level] with the value [shards]')
    if (level !== 'node' && level !== 'indices')
      throw illegalArgument(`level parameter must be one of [indices] or [node] or [shards] but was [${level}]`)
    const { indices } = deps.catalog
    return {
      ...statsOf(indices, metrics),
      ...(level === 'indices' && { indices: Object.fromEntries(indices.map(index => [index.name, statsOf([index], metrics)])) }),
    }
  },
  os: ({ deps }) => {
    const [one = 0, five = 0, fifteen = 0] = loadavg()
    const [total, free] = [totalmem(), freemem()]
    const percent = Math.round((100 * free) / total)
    return {
      timestamp: deps.clock.nowMs(),
      cpu: { percent: UNKNOWN, load_average: { '1m': one, '5m': five, '15m': fifteen } },
      mem: { total_in_bytes: total, free_in_bytes: free, used_in_bytes: total - free, free_percent: percent, used_percent: 100 - percent },
      uptime_in_millis: Math.round(uptime() * 1000),
    }
  },
  process: ({ deps }) => {
    const { user, system } = process.cpuUsage()
    return {
      ...{ timestamp: deps.clock.nowMs(), id: process.pid },
      ...{ open_file_descriptors: UNKNOWN, max_file_descriptors: UNKNOWN },
      ...{
        cpu: { percent: UNKNOWN, total_in_millis: Math.round((user + system) / 1000) },
        mem: { total_virtual_in_bytes: residentBytes() },
      },
      resident_in_bytes: residentBytes(),
    }
  },
  jvm: ({ deps }) => {
    const { external, arrayBuffers } = process.memoryUsage()
    const heap = getHeapStatistics()
    return {
      ...{ timestamp: deps.clock.nowMs(), uptime_in_millis: Math.round(process.uptime() * 1000) },
      mem: {
        ...{ heap_used_in_bytes: heap.used_heap_size, heap_used_percent: Math.round((100 * heap.used_heap_size) / heap.heap_size_limit) },
        ...{ heap_committed_in_bytes: heap.total_heap_size, heap_max_in_bytes: heap.heap_size_limit, non_heap_used_in_bytes: external },
      },
      threads: { count: 1, peak_count: 1 },
      buffer_pools: { direct: { count: 1, used_in_bytes: arrayBuffers, total_capacity_in_bytes: arrayBuffers } },
    }
  },
  fs: ({ deps }) => {
    const disk = statfsSync(deps.dir)
    const total = { total_in_bytes: disk.blocks * disk.bsize, free_in_bytes: disk.bfree * disk.bsize }
    return { timestamp: deps.clock.nowMs(), total: { ...total, available_in_bytes: disk.bavail * disk.bsize } }
  },
  transport: () => zeros('server_open total_outbound_connections rx_count rx_size_in_bytes tx_count tx_size_in_bytes'),
  discovery: () => ({
    cluster_state_queue: zeros('total pending committed'),
    published_cluster_states: zeros('full_states incompatible_diffs compatible_diffs'),
  }),
}

const zeros = (names: string): Record<string, number> => Object.fromEntries(names.split(' ').map(name => [name, 0]))

const STATS_ELSEWHERE = new Set(
  'thread_pool http breaker script ingest adaptive_selection indexing_pressure script_cache search_pipeline'.split(' '),
)

function showStats(call: Call): Reply {
  const { metric } = call.path
  for (const part of (metric ?? '').split(',')) if (STATS_ELSEWHERE.has(part)) throw unsupported(`section [${part}] of [_nodes/stats]`)
  const metrics = readMetrics(metric, Object.keys(STATS), `/_nodes/stats/${metric ?? ''}`)
  const own = { timestamp: call.deps.clock.nowMs(), ...identityOf(call.deps), roles: ROLES, attributes: {} }
  return nodesReply(call, { ...own, ...sectionsOf(STATS, metrics, call) })
}
