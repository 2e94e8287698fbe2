/** `_cat` tables of the node: `_cat/nodes`, `_cat/allocation`, `_cat/cluster_manager`, and those that have no rows here. */
import { statfsSync } from 'node:fs'
import { availableParallelism, freemem, loadavg, totalmem, uptime } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { words } from '../../json/json-reader.ts'
import type { Reply } from '../answer/reply.ts'
import { showBytes } from '../answer/show-bytes.ts'
import { meansNode } from '../cluster/node-routes.ts'
import { NODE_ADDRESS, NODE_ID, OPENSEARCH_VERSION } from '../node-identity.ts'
import { booleanParameter } from '../request/index-parameters.ts'
import type { Call, Route } from '../route.ts'
import { catRoutes } from './cat-routes.ts'
import { type CatColumn, catReply, column, EXTRA, NUMBER } from './cat-table.ts'

export const CAT_NODE_ROUTES: readonly Route[] = [
  ...catRoutes(['/_cat/nodes'], catNodes),
  ...catRoutes(['/_cat/allocation', '/_cat/allocation/:node'], catAllocation),
  ...catRoutes(['/_cat/cluster_manager', '/_cat/master'], catClusterManager),
  ...emptyTable('pending_tasks', 'insertOrder timeInQueue priority source'),
  ...emptyTable('plugins', 'id name component version description'),
  ...emptyTable('repositories', 'id type'),
  ...emptyTable('nodeattrs', 'node id pid host ip port attr value'),
  ...emptyTable('fielddata', 'id host ip node field size'),
  ...emptyTable(
    'snapshots',
    'id status start_epoch start_time end_epoch end_time duration indices successful_shards failed_shards total_shards reason',
  ),
]

/** A table without rows, for things that this store does not have. */
function emptyTable(name: string, columns: string): readonly Route[] {
  const shown = words(columns).map(each => column<never>(each, each.replaceAll('_', ' '), () => ''))
  return catRoutes([`/_cat/${name}`], call => catReply([], shown, call.query))
}

/** The one row that there is; `null` cells are empty. */
const cell = (names: string, description: string, value: string, more = {}): CatColumn<null> =>
  column<null>(names, description, () => value, more)

const percentOf = (part: number, whole: number): number => Math.round((100 * part) / whole)

function diskOf({ deps, query }: Call) {
  const disk = statfsSync(deps.dir)
  const [total, available] = [disk.blocks * disk.bsize, disk.bavail * disk.bsize]
  const used = total - disk.bfree * disk.bsize
  return {
    total: showBytes(total, query),
    available: showBytes(available, query),
    used: showBytes(used, query),
    share: (100 * used) / total,
  }
}

function catNodes(call: Call): Promise<Reply> {
  const disk = diskOf(call)
  const heap = getHeapStatistics()
  const loads = loadavg().map(load => load.toFixed(2))
  const id = booleanParameter(call.query, 'full_id') ? NODE_ID : NODE_ID.slice(0, 4)
  const [own, whole] = [totalmem() - freemem(), totalmem()]
  return catReply(
    [null],
    [
      cell('id nodeId', 'unique node id', id, EXTRA),
      cell('pid p', 'process id', String(process.pid), EXTRA),
      cell('ip i', 'ip address', NODE_ADDRESS),
      cell('port po', 'bound transport port', '9300', EXTRA),
      cell('http_address http', 'bound http address', call.headers.host ?? '', EXTRA),
      cell('version v', 'version', OPENSEARCH_VERSION, EXTRA),
      cell('disk.total dt diskTotal', 'total disk space', disk.total, { ...EXTRA, ...NUMBER }),
      cell('disk.used du diskUsed', 'used disk space', disk.used, { ...EXTRA, ...NUMBER }),
      cell('disk.avail d da disk diskAvail', 'available disk space', disk.available, { ...EXTRA, ...NUMBER }),
      cell('disk.used_percent dup diskUsedPercent', 'used disk space percentage', disk.share.toFixed(2), { ...EXTRA, ...NUMBER }),
      cell('heap.current hc heapCurrent', 'used heap', showBytes(heap.used_heap_size, call.query), { ...EXTRA, ...NUMBER }),
      cell('heap.percent hp heapPercent', 'used heap ratio', String(percentOf(heap.used_heap_size, heap.heap_size_limit)), NUMBER),
      cell('heap.max hm heapMax', 'max configured heap', showBytes(heap.heap_size_limit, call.query), { ...EXTRA, ...NUMBER }),
      cell('ram.current rc ramCurrent', 'used machine memory', showBytes(own, call.query), { ...EXTRA, ...NUMBER }),
      cell('ram.percent rp ramPercent', 'used machine memory ratio', String(percentOf(own, whole)), NUMBER),
      cell('ram.max rm ramMax', 'total machine memory', showBytes(whole, call.query), { ...EXTRA, ...NUMBER }),
      cell('cpu', 'recent cpu usage', String(Math.min(100, percentOf(loadavg()[0]!, availableParallelism()))), NUMBER),
      cell('load_1m l', '1m load avg', loads[0]!, NUMBER),
      cell('load_5m l', '5m load avg', loads[1]!, NUMBER),
      cell('load_15m l', '15m load avg', loads[2]!, NUMBER),
      cell('uptime u', 'node uptime', `${Math.round(uptime())}s`, EXTRA),
      cell('node.role r role nodeRole', 'abbreviated node roles', 'dim'),
      cell('node.roles rs all roles', 'node roles', 'cluster_manager,data,ingest'),
      cell('cluster_manager m', '*:current cluster manager', '*'),
      cell('name n', 'node name', call.deps.nodeName),
    ],
    call.query,
  )
}

function catAllocation(call: Call): Promise<Reply> {
  const disk = diskOf(call)
  const { indices } = call.deps.catalog
  const ownBytes = indices.reduce((sum, { storage }) => sum + storage.sizeBytes, 0)
  return catReply(
    meansNode(call.path['node'], call.deps) ? [null] : [],
    [
      cell('shards s', 'number of shards on node', String(indices.length), NUMBER),
      cell('disk.indices di diskIndices', 'disk used by indices', showBytes(ownBytes, call.query), NUMBER),
      cell('disk.used du diskUsed', 'disk used (total, not just by indices)', disk.used, NUMBER),
      cell('disk.avail da diskAvail', 'disk available', disk.available, NUMBER),
      cell('disk.total dt diskTotal', 'total capacity of all volumes', disk.total, NUMBER),
      cell('disk.percent dp diskPercent', 'percent disk used', String(Math.floor(disk.share)), NUMBER),
      cell('host h', 'host of node', NODE_ADDRESS),
      cell('ip', 'ip of node', NODE_ADDRESS),
      cell('node n', 'name of node', call.deps.nodeName),
    ],
    call.query,
  )
}

function catClusterManager(call: Call): Promise<Reply> {
  return catReply(
    [null],
    [
      cell('id', 'node id', NODE_ID),
      cell('host h', 'host name', NODE_ADDRESS),
      cell('ip', 'ip address', NODE_ADDRESS),
      cell('node n', 'node name', call.deps.nodeName),
    ],
    call.query,
  )
}
