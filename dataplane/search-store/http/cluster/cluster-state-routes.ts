/** `_cluster/state` and what else tells of the cluster, which is one node. */
import { unsupported } from '../../api-error.ts'
import type { CatalogIndex } from '../../catalog/catalog.ts'
import { nestSettings } from '../../catalog/settings.ts'
import { diskProblem } from '../../disk-room.ts'
import { Turns } from '../../turns.ts'
import { isTooLong, tooLong } from '../answer/listing.ts'
import { ok, type Reply } from '../answer/reply.ts'
import { flatSettings } from '../indices/index-routes.ts'
import { CLUSTER_NAME, NODE_ADDRESS, NODE_ID } from '../node-identity.ts'
import { readMetrics } from '../request/did-you-mean.ts'
import { booleanParameter, INDEX_PARAMETERS, NODE_PARAMETERS, resolveShown } from '../request/index-parameters.ts'
import { type Call, type Route, routes } from '../route.ts'

const PARAMETERS = [...INDEX_PARAMETERS, ...NODE_PARAMETERS, 'flat_settings', 'wait_for_metadata_version', 'wait_for_timeout']

export const CLUSTER_STATE_ROUTES: readonly Route[] = [
  ...routes(['GET'], ['/_cluster/state', '/_cluster/state/:metric', '/_cluster/state/:metric/:index'], PARAMETERS, showState),
  ...routes(['GET'], ['/_cluster/pending_tasks'], NODE_PARAMETERS, () => ok({ tasks: [] })),
  ...routes(['GET'], ['/_remote/info'], NODE_PARAMETERS, () => ok({})),
  ...routes(['GET', 'POST'], ['/_search_shards', '/:index/_search_shards'], [...INDEX_PARAMETERS, ...NODE_PARAMETERS], showSearchShards),
  ...routes(
    ['GET'],
    ['/_recovery', '/:index/_recovery'],
    [...INDEX_PARAMETERS, ...NODE_PARAMETERS, 'detailed', 'active_only'],
    showRecovery,
  ),
]

const METRICS = ['version', 'master_node', 'cluster_manager_node', 'blocks', 'nodes', 'metadata', 'routing_table', 'routing_nodes']

const shardOf = (index: CatalogIndex) => ({
  ...{ state: index.storage.problem === undefined ? 'STARTED' : 'UNASSIGNED', primary: true, node: NODE_ID, relocating_node: null },
  ...{ shard: 0, index: index.name, allocation_id: { id: index.uuid } },
})

const metadataOf = (index: CatalogIndex) => ({
  state: index.isClosed ? 'close' : 'open',
  settings: nestSettings(flatSettings(index)),
  mappings: { _doc: index.storage.mapping.toJson() },
  aliases: [...index.aliases.keys()],
  primary_terms: { 0: 1 },
  in_sync_allocations: { 0: [index.uuid] },
})

/** The block that OpenSearch sets where a disk is full; here also where it cannot be written for another reason. */
const diskBlock = (description: string) => ({ 12: { description, retryable: true, levels: ['write'] } })

async function showState(call: Call): Promise<Reply> {
  const { deps, path } = call
  const wanted = readMetrics(path['metric'], METRICS, `/_cluster/state/${path['metric'] ?? ''}`)
  const indices = resolveShown(call, { expand: 'all' }).map(({ index }) => index)
  const members = async (of: (index: CatalogIndex) => unknown): Promise<Record<string, unknown>> => {
    const entries: [string, unknown][] = []
    const turns = new Turns()
    let length = 0
    for (const index of indices) {
      const member = of(index)
      length += JSON.stringify(member).length
      if (isTooLong(length)) throw tooLong()
      entries.push([index.name, member])
      if (turns.isDue()) await turns.next()
    }
    return Object.fromEntries(entries)
  }
  const templates = Object.fromEntries(
    Array.from(deps.catalog.templates.legacy_template, ([name, { patterns }]) => [name, { index_patterns: patterns }]),
  )
  const coordination = { term: 1, last_committed_config: [NODE_ID], last_accepted_config: [NODE_ID], voting_config_exclusions: [] }
  const metadata = async () => ({
    cluster_uuid: deps.clusterUuid,
    cluster_coordination: coordination,
    templates,
    indices: await members(metadataOf),
  })
  const blocks = async () => {
    if (indices.length === 0) return {}
    const problem = (await diskProblem(deps.dir)) ?? deps.writes.problem
    return problem === undefined ? {} : { indices: await members(() => diskBlock(problem)) }
  }
  const node = { name: deps.nodeName, ephemeral_id: NODE_ID, transport_address: `${NODE_ADDRESS}:9300`, attributes: {} }
  return ok({
    ...{ cluster_name: CLUSTER_NAME, cluster_uuid: deps.clusterUuid },
    ...(wanted.has('version') && { version: 1, state_uuid: deps.clusterUuid }),
    ...(wanted.has('master_node') && { master_node: NODE_ID }),
    ...(wanted.has('cluster_manager_node') && { cluster_manager_node: NODE_ID }),
    ...(wanted.has('blocks') && { blocks: await blocks() }),
    ...(wanted.has('nodes') && { nodes: { [NODE_ID]: node } }),
    ...(wanted.has('metadata') && { metadata: await metadata() }),
    ...(wanted.has('routing_table') && { routing_table: { indices: await members(index => ({ shards: { 0: [shardOf(index)] } })) } }),
    ...(wanted.has('routing_nodes') && { routing_nodes: { unassigned: [], nodes: { [NODE_ID]: indices.map(shardOf) } } }),
  })
}

/** The shards that a search would ask. */
function showSearchShards(call: Call): Reply {
  const { deps } = call
  const resolved = resolveShown(call)
  if (call.json()['slice'] !== undefined) throw unsupported('parameter [slice]')
  const names = (call.path['index'] ?? '').split(',')
  const aliasesOf = ({ aliases }: CatalogIndex) => names.filter(name => aliases.has(name))
  const showAliases = (index: CatalogIndex) => {
    const filters = aliasesOf(index).flatMap(alias => index.aliases.get(alias)!.filter ?? [])
    if (filters.length > 0) throw unsupported('[_search_shards] of an alias with a filter')
    return aliasesOf(index).length === 0 ? {} : { aliases: aliasesOf(index) }
  }
  return ok({
    nodes: { [NODE_ID]: { name: deps.nodeName, ephemeral_id: NODE_ID, transport_address: `${NODE_ADDRESS}:9300`, attributes: {} } },
    indices: Object.fromEntries(resolved.map(({ index }) => [index.name, showAliases(index)])),
    shards: resolved.map(({ index }) => [shardOf(index)]),
  })
}

const NO_TIMES = { total_time_in_millis: 0, source_throttle_time_in_millis: 0, target_throttle_time_in_millis: 0 }

/** Each index was opened from its own files when the store started, or was made since. */
function showRecovery(call: Call): Reply {
  const isHuman = booleanParameter(call.query, 'human')
  const startedMs = call.deps.clock.nowMs() - process.uptime() * 1000
  const shown = resolveShown(call).map(({ index }) => {
    const { name, storage, createdAtMs } = index
    const size = { total_in_bytes: storage.sizeBytes, reused_in_bytes: storage.sizeBytes, recovered_in_bytes: 0, percent: '100.0%' }
    const shard = {
      ...{ id: 0, type: createdAtMs < startedMs || index.isClosed ? 'EXISTING_STORE' : 'EMPTY_STORE', stage: 'DONE', primary: true },
      ...{
        start_time_in_millis: createdAtMs,
        ...(isHuman && { start_time: new Date(createdAtMs).toISOString() }),
        total_time_in_millis: 0,
      },
      ...{
        source: {},
        target: { id: NODE_ID, host: NODE_ADDRESS, transport_address: `${NODE_ADDRESS}:9300`, ip: NODE_ADDRESS, name: call.deps.nodeName },
      },
      index: { size, files: { total: 0, reused: 0, recovered: 0, percent: '0.0%', details: [] }, ...NO_TIMES },
      translog: { recovered: 0, total: 0, percent: '100.0%', total_on_start: 0, total_time_in_millis: 0 },
      verify_index: { check_index_time_in_millis: 0, total_time_in_millis: 0 },
    }
    return [name, { shards: [shard] }] as const
  })
  return ok(Object.fromEntries(shown))
}
