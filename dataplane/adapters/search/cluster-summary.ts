/** Reads the figures of the search store as a whole, and whether its indices can be written. */
import { createStoreTransport, type SearchConnectionConfig } from './transport.ts'

/** The search store as a whole, in the terms of `_cluster/health` and `_cat/indices`. */
export interface ClusterSummary {
  readonly status: 'green' | 'yellow' | 'red'
  readonly nodes: number
  readonly indices: number
  readonly totalDocs: number
  readonly totalSizeBytes: number
  readonly activePrimaryShards: number
  readonly activeShards: number
  /** Why indices cannot be written. */
  readonly blocked?: string
}

export interface ClusterSummaryReader {
  /** Rejects when the store cannot be reached. */
  read(): Promise<ClusterSummary>
  close(): Promise<void>
}

interface RawHealth {
  readonly status: ClusterSummary['status']
  readonly number_of_nodes: number
  readonly active_primary_shards: number
  readonly active_shards: number
}

/** Figures are text; a closed index has none. */
interface RawIndex {
  readonly 'docs.count'?: string | null
  readonly 'store.size'?: string | null
}

/** Blocks of indices by their numbers. */
interface RawState {
  readonly blocks?: { readonly indices?: Readonly<Record<string, Readonly<Record<string, { readonly description: string }>>>> }
}

/** The number of `read_only_allow_delete`, which a node sets whose disk is full. */
const FULL_DISK_BLOCK = '12'

export function createClusterSummaryReader(config: SearchConnectionConfig): ClusterSummaryReader {
  const transport = createStoreTransport(config)
  return {
    async read() {
      const query = { format: 'json', bytes: 'b', h: 'index,docs.count,store.size' }
      const [health, indices, state] = await Promise.all([
        transport.request({ method: 'GET', path: '/_cluster/health' }),
        transport.request({ method: 'GET', path: '/_cat/indices', query }),
        // A user of OpenSearch may see the figures and not the state.
        transport.request({ method: 'GET', path: '/_cluster/state/blocks' }).catch(() => undefined),
      ])
      return {
        ...summarise(health.body as RawHealth, indices.body as readonly RawIndex[]),
        ...blockedOf(state?.body as RawState | undefined),
      }
    },
    close: () => transport.close(),
  }
}

function summarise(health: RawHealth, indices: readonly RawIndex[]): ClusterSummary {
  const sum = (field: keyof RawIndex) => indices.reduce((total, index) => total + Number(index[field] ?? 0), 0)
  return {
    status: health.status,
    nodes: health.number_of_nodes,
    indices: indices.length,
    totalDocs: sum('docs.count'),
    totalSizeBytes: sum('store.size'),
    activePrimaryShards: health.active_primary_shards,
    activeShards: health.active_shards,
  }
}

function blockedOf(state: RawState | undefined): Pick<ClusterSummary, 'blocked'> {
  const blocks = Object.values(state?.blocks?.indices ?? {}).flatMap(({ [FULL_DISK_BLOCK]: block }) => (block === undefined ? [] : [block]))
  if (blocks.length === 0) return {}
  return { blocked: `${blocks.length} ${blocks.length === 1 ? 'index' : 'indices'} cannot be written: ${blocks[0]!.description}` }
}
