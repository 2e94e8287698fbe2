/** The store as a cluster of one node: `/`, `_cluster/*`, `_nodes`, `/health`. */

import { statfsSync } from 'node:fs'
import { unsupported } from '../api-error.ts'
import type { CatalogIndex } from '../catalog/catalog.ts'
import { words } from '../json/json-reader.ts'
import { INDEX_PARAMETERS, NODE_PARAMETERS, resolveIndices } from './index-parameters.ts'
import { listingReply } from './listing.ts'
import { ok, type Reply } from './reply.ts'
import { type Call, type Route, routes } from './route.ts'
import { CLUSTER_NAME, OPENSEARCH_VERSION } from './version.ts'

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
  ...routes(['GET'], ['/_cluster/settings'], [...FLAT_PARAMETERS, 'include_defaults'], () => ok({ persistent: {}, transient: {} })),
  ...routes(['PUT'], ['/_cluster/settings'], FLAT_PARAMETERS, refuseSettings),
  ...routes(['GET'], ['/_cluster/stats'], NODE_PARAMETERS, showClusterStats),
  ...routes(['GET'], ['/_nodes', '/_nodes/:filter', '/_nodes/:filter/:metric'], FLAT_PARAMETERS, showNodes),
]

const NODE_ID = 'embedded'

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

const isRed = ({ storage }: CatalogIndex): boolean => storage.problem !== undefined

/** Green, or red where an index could not be opened. */
export function statusOf(indices: readonly CatalogIndex[]): 'green' | 'red' {
  return indices.some(isRed) ? 'red' : 'green'
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
  const indices = resolveIndices(call).map(({ index }) => index)
  const level = call.query.get('level')
  const shards = shardsOf(indices)
  const health = {
    cluster_name: CLUSTER_NAME,
    status: statusOf(indices),
    timed_out: false,
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
  if (level === null || level === 'cluster') return ok(health)
  return listingReply(call, { head: health, under: 'indices', members: indices.map(index => [index.name, indexHealth(index)]) })
}

function indexHealth(index: CatalogIndex) {
  return { status: statusOf([index]), number_of_shards: 1, number_of_replicas: 0, ...shardsOf([index]) }
}

function refuseSettings(): Reply {
  throw unsupported('changing cluster settings')
}

function sumOf(indices: readonly CatalogIndex[], pick: (index: CatalogIndex) => number): number {
  return indices.reduce((sum, index) => sum + pick(index), 0)
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
      docs: { count: sumOf(indices, index => index.storage.docCount), deleted: sumOf(indices, index => index.storage.deletedCount) },
      store: { size_in_bytes: sumOf(indices, index => index.storage.sizeBytes), reserved_in_bytes: 0 },
    },
    nodes: { count: { total: 1, cluster_manager: 1, data: 1, ingest: 1, coordinating_only: 0 }, versions: [OPENSEARCH_VERSION] },
  })
}

function showNodes(call: Call): Reply {
  const disk = statfsSync(call.deps.dir)
  const { indices } = call.deps.catalog
  const memory = process.memoryUsage()
  return ok({
    _nodes: { total: 1, successful: 1, failed: 0 },
    cluster_name: CLUSTER_NAME,
    nodes: {
      [NODE_ID]: {
        name: call.deps.nodeName,
        host: '127.0.0.1',
        ip: '127.0.0.1',
        version: OPENSEARCH_VERSION,
        roles: ['cluster_manager', 'data', 'ingest'],
        indices: {
          docs: { count: sumOf(indices, index => index.storage.docCount), deleted: sumOf(indices, index => index.storage.deletedCount) },
          store: { size_in_bytes: sumOf(indices, index => index.storage.sizeBytes) },
        },
        process: { id: process.pid, mlockall: false, refresh_interval_in_millis: 1_000, resident_in_bytes: memory.rss },
        fs: {
          total: {
            total_in_bytes: disk.blocks * disk.bsize,
            free_in_bytes: disk.bfree * disk.bsize,
            available_in_bytes: disk.bavail * disk.bsize,
          },
        },
      },
    },
  })
}
