/** Keeps the anomalies of tenants that have no indices yet. */
import { anomaliesIndex } from '../../../contract/indices.ts'
import { DEFAULT_TENANT } from '../../../contract/tenant-id.ts'
import type { Anomaly } from '../../../domain/anomalies/anomaly.ts'
import type { BulkOperation, SearchStore } from '../../../ports/search-store.ts'
import { type BulkWriterDeps, writeBulk } from '../bulk-writer.ts'

/**
 * Anomalies of tenants without indices of their own, until they have them: they lie in the default tenant's index under their own `tenant_id`,
 * and count for no incident.
 */
export interface WaitingAnomalies {
  /** Resolves once they are stored, with those that the store will not take. */
  add(anomalies: readonly Anomaly[]): Promise<readonly { readonly anomaly: Anomaly; readonly reason: string }[]>
  /** Tenants that wait, as many as one look shows. */
  tenants(): Promise<readonly string[]>
  /** The anomalies that tenants wait with, the oldest of each first, as many as are to be taken at once: some of each tenant. */
  of(tenants: readonly string[]): Promise<readonly Anomaly[]>
  remove(anomalies: readonly Anomaly[]): Promise<void>
}

const INDEX = anomaliesIndex(DEFAULT_TENANT)
const MAX_TENANTS = 10_000
const MAX_AT_ONCE = 500
/** Few attempts: other anomalies must not be held up by the waiting ones. */
const MAX_ATTEMPTS = 6
const OF_OTHERS = { bool: { must_not: [{ term: { tenant_id: DEFAULT_TENANT } }] } }

export function createWaitingAnomalies(deps: Pick<BulkWriterDeps, 'store' | 'clock' | 'signal' | 'outages'>): WaitingAnomalies {
  const store: SearchStore = deps.store
  return {
    async add(anomalies) {
      const indexed_at = new Date(deps.clock.nowMs()).toISOString()
      const operations = anomalies.map(
        (anomaly): BulkOperation => ({
          action: 'create',
          index: INDEX,
          id: anomaly.id,
          body: JSON.stringify({ ...anomaly, indexed_at }),
        }),
      )
      const { refused } = await writeBulk(operations, { ...deps, refusesWithoutRoom: true, maxAttempts: MAX_ATTEMPTS })
      return refused.map(({ item, reason }) => ({ anomaly: anomalies[item]!, reason }))
    },
    async tenants() {
      await store.refresh(INDEX)
      const aggs = { tenants: { terms: { field: 'tenant_id', size: MAX_TENANTS } } }
      const { aggregations } = await store.search({ index: INDEX, body: { size: 0, track_total_hits: false, query: OF_OTHERS, aggs } })
      const { buckets } = (aggregations?.['tenants'] ?? { buckets: [] }) as { readonly buckets: readonly { readonly key: string }[] }
      return buckets.map(({ key }) => key)
    },
    async of(tenants) {
      const all = await oldestOf(store, tenants, MAX_AT_ONCE)
      if (all.length < MAX_AT_ONCE || tenants.length === 1) return all
      // Those of one tenant may be all that one search shows.
      const share = Math.floor(MAX_AT_ONCE / tenants.length)
      return (await Promise.all(tenants.map(tenant => oldestOf(store, [tenant], share)))).flat()
    },
    async remove(anomalies) {
      if (anomalies.length === 0) return
      await store.deleteByQuery(INDEX, { ids: { values: anomalies.map(({ id }) => id) } }, anomalies.length)
    },
  }
}

async function oldestOf(store: SearchStore, tenants: readonly string[], most: number): Promise<readonly Anomaly[]> {
  const { hits } = await store.search<Anomaly>({
    index: INDEX,
    body: {
      size: most,
      track_total_hits: false,
      query: { bool: { ...OF_OTHERS.bool, filter: [{ terms: { tenant_id: [...tenants] } }] } },
      sort: [{ timestamp: { order: 'asc', unmapped_type: 'date' } }],
    },
  })
  return hits.map(({ source }) => source)
}
