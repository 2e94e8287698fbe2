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

export function createClusterSummaryReader(config: SearchConnectionConfig): ClusterSummaryReader {
  const transport = createStoreTransport(config)
  return {
    async read() {
      const query = { format: 'json', bytes: 'b', h: 'index,docs.count,store.size' }
      const [health, indices] = await Promise.all([
        transport.request({ method: 'GET', path: '/_cluster/health' }),
        transport.request({ method: 'GET', path: '/_cat/indices', query }),
      ])
      return summarise(health.body as RawHealth, indices.body as readonly RawIndex[])
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
