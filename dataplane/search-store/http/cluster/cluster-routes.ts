/** The store as a cluster of one node: `/`, `_cluster/*`, `/health`. */
import { illegalArgument, unsupported } from '../../api-error.ts'
import type { CatalogIndex } from '../../catalog/catalog.ts'
import { words } from '../../json/json-reader.ts'
import { listingReply } from '../answer/listing.ts'
import { ok, type Reply } from '../answer/reply.ts'
import { isRed, statusOf } from '../indices/index-health.ts'
import { statsOf } from '../indices/index-stats.ts'
import { CLUSTER_NAME, OPENSEARCH_VERSION } from '../node-identity.ts'
import { booleanParameter, INDEX_PARAMETERS, NODE_PARAMETERS, resolveShown } from '../request/index-parameters.ts'
import { type Call, type Route, routes } from '../route.ts'

const HEALTH_PARAMETERS = [
  ...INDEX_PARAMETERS,
  ...NODE_PARAMETERS,
  ...words(`
  level wait_for_status wait_for_nodes wait_for_events wait_for_no_relocating_shards wait_for_no_initializing_shards
`),
]

const FLAT_PARAMETERS = [...NODE_PARAMETERS, 'flat_settings']

export const CLUSTER_ROUTES: readonly Route[] = [
  ...routes(['GET', 'HEAD'], ['/'], NODE_PARAMETERS, showInfo),
  ...routes(['GET', 'HEAD'], ['/health'], NODE_PARAMETERS, () => ok({ status: 'ok' })),
  ...routes(['GET', 'HEAD'], ['/_cluster/health', '/_cluster/health/:index'], HEALTH_PARAMETERS, showHealth),
  ...routes(['GET'], ['/_cluster/settings'], [...FLAT_PARAMETERS, 'include_defaults'], showSettings),
  ...routes(['PUT'], ['/_cluster/settings'], FLAT_PARAMETERS, refuseSettings),
  ...routes(['GET'], ['/_cluster/stats'], NODE_PARAMETERS, showClusterStats),
]

function showInfo(call: Call): Reply {
  return ok({
    name: call.deps.nodeName,
    cluster_name: CLUSTER_NAME,
    cluster_uuid: call.deps.clusterUuid,
    version: {
      distribution: 'opensearch',
      number: OPENSEARCH_VERSION,
      build_type: 'embedded',
      build_hash: 'logpipeline',
      build_date: '2026-01-01T00:00:00.000Z',
      build_snapshot: false,
      lucene_version: '10.3.2',
      minimum_wire_compatibility_version: '2.19.0',
      minimum_index_compatibility_version: '2.0.0',
    },
    tagline: 'The OpenSearch Project: https://opensearch.org/',
  })
}

function shardsOf(indices: readonly CatalogIndex[]) {
  const red = indices.filter(isRed).length
  const active = indices.length - red
  return {
    active_primary_shards: active,
    active_shards: active,
    relocating_shards: 0,
    initializing_shards: 0,
    unassigned_shards: red,
  }
}

function showHealth(call: Call): Reply | Promise<Reply> {
  const { indices, isMissing } = waitedFor(call)
  const level = call.query.get('level')
  if (level !== null && !LEVELS.has(level))
    throw illegalArgument(`level parameter must be one of [cluster], [indices] or [shards] but was [${level}]`)
  const shards = shardsOf(indices)
  const isTimedOut = isMissing || !isAsWaitedFor(call.query, indices)
  const health = {
    cluster_name: CLUSTER_NAME,
    status: isMissing ? 'red' : statusOf(indices),
    timed_out: isTimedOut,
    number_of_nodes: 1,
    number_of_data_nodes: 1,
    discovered_master: true,
    discovered_cluster_manager: true,
    ...shards,
    delayed_unassigned_shards: 0,
    number_of_pending_tasks: 0,
    number_of_in_flight_fetch: 0,
    task_max_waiting_in_queue_millis: 0,
    active_shards_percent_as_number: indices.length === 0 ? 100 : (100 * shards.active_shards) / indices.length,
  }
  const status = isTimedOut ? 408 : 200
  if (level === null || level === 'cluster') return { status, body: health }
  const withShards = level === 'shards'
  return listingReply(call, {
    status,
    head: health,
    under: 'indices',
    members: indices.map(index => [index.name, indexHealth(index, withShards)]),
  })
}

/** The indices that a request for the health names. One that is not there may come: it counts as red, and nobody waits for it. */
function waitedFor(call: Call): { readonly indices: readonly CatalogIndex[]; readonly isMissing: boolean } {
  const { catalog } = call.deps
  const names = (call.path['index'] ?? '_all').split(',')
  const isThere = (name: string) => name.includes('*') || name === '_all' || catalog.has(name)
  const there = names.filter(isThere)
  const expression = there.length === 0 ? undefined : there.join(',')
  const indices = expression === undefined ? [] : resolveShown(call, { expand: 'all', expression }).map(({ index }) => index)
  return { indices, isMissing: there.length < names.length }
}

const LEVELS = new Set(['cluster', 'indices', 'shards'])

function indexHealth(index: CatalogIndex, withShards: boolean) {
  const { active_primary_shards: active, ...others } = shardsOf([index])
  const shard = { status: statusOf([index]), primary_active: active === 1, ...others }
  return {
    ...{ status: statusOf([index]), number_of_shards: 1, number_of_replicas: 0, ...shardsOf([index]) },
    ...(withShards && { shards: { 0: shard } }),
  }
}

/** Whether the cluster is as the request waits for it to be: one node does not become two. */
function isAsWaitedFor(query: URLSearchParams, indices: readonly CatalogIndex[]): boolean {
  const wanted = query.get('wait_for_status')
  if (wanted !== null && !STATUSES.has(wanted.toLowerCase()))
    throw illegalArgument(`unknown [wait_for_status] [${wanted}], expected green, yellow or red`)
  if (wanted !== null && wanted !== 'red' && indices.some(isRed)) return false
  const shards = Number(query.get('wait_for_active_shards') ?? 0)
  if (shards > shardsOf(indices).active_shards) return false
  const [, sign = '', digits = ''] = /^(>=|<=|>|<|ge\(|le\(|gt\(|lt\()?(\d+)\)?$/.exec(query.get('wait_for_nodes') ?? '1') ?? []
  const compared = NODES_COMPARED.get(sign)
  if (compared === undefined) throw illegalArgument(`failed to parse [wait_for_nodes] with value [${query.get('wait_for_nodes')}]`)
  return compared(Number(digits))
}

const STATUSES = new Set(['green', 'yellow', 'red'])

/** Comparisons of the one node with a number of nodes, by the sign before the number. */
const NODES_COMPARED: ReadonlyMap<string, (count: number) => boolean> = new Map([
  ['', (count: number) => count === 1],
  ...['>=', 'ge('].map(sign => [sign, (count: number) => count <= 1] as const),
  ...['<=', 'le('].map(sign => [sign, (count: number) => count >= 1] as const),
  ...['>', 'gt('].map(sign => [sign, (count: number) => count < 1] as const),
  ...['<', 'lt('].map(sign => [sign, (count: number) => count > 1] as const),
])

/** There is none. */
function showSettings(call: Call): Reply {
  if (booleanParameter(call.query, 'include_defaults')) throw unsupported('parameter [include_defaults]')
  return ok({ persistent: {}, transient: {} })
}

function refuseSettings(): Reply {
  throw unsupported('changing cluster settings')
}

function showClusterStats(call: Call): Reply {
  const { indices } = call.deps.catalog
  return ok({
    _nodes: { total: 1, successful: 1, failed: 0 },
    cluster_name: CLUSTER_NAME,
    cluster_uuid: call.deps.clusterUuid,
    timestamp: call.deps.clock.nowMs(),
    status: statusOf(indices),
    indices: {
      count: indices.length,
      shards: { total: indices.length, primaries: indices.length, replication: 0 },
      ...statsOf(indices, ['docs', 'store', 'fielddata', 'query_cache', 'completion', 'segments']),
    },
    nodes: {
      count: { total: 1, cluster_manager: 1, master: 1, data: 1, ingest: 1, coordinating_only: 0 },
      ...{ versions: [OPENSEARCH_VERSION], discovery_types: { 'single-node': 1 }, packaging_types: [{ type: 'embedded', count: 1 }] },
    },
  })
}
