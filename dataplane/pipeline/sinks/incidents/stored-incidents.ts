/** Finds and changes incidents in the search store. */
import { anomaliesIndex, incidentsIndex } from '../../../contract/indices.ts'
import { RESTORED_FIELDS, type RestoredIncident } from '../../../domain/incidents/grouping.ts'
import type { Evidence } from '../../../domain/incidents/incident-fields.ts'
import { retryOnConflict } from '../../../ports/retry-on-conflict.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { incidentOf, readStoredIncident } from '../../incident-of.ts'

/** Incidents of one service that are looked at, the latest first. */
const MAX_INCIDENTS_OF_SERVICE = 20
/** Incidents that one search reads. */
const MAX_INCIDENTS_AT_ONCE = 500
const MAX_PATTERNS = 1_000

/** By service, a tenant's incidents that are not resolved, the latest first: one search for many services, several where these have many incidents. */
export async function findUnresolved(
  store: SearchStore,
  tenant: string,
  services: readonly string[],
): Promise<ReadonlyMap<string, readonly RestoredIncident[]>> {
  const { hits } = await store.search<unknown>({
    index: incidentsIndex(tenant),
    body: {
      size: MAX_INCIDENTS_AT_ONCE,
      track_total_hits: false,
      _source: RESTORED_FIELDS,
      query: { bool: { filter: [{ terms: { service: services } }], must_not: [{ term: { status: 'resolved' } }] } },
      sort: [{ lastSeen: { order: 'desc', unmapped_type: 'date' } }],
    },
  })
  if (hits.length === MAX_INCIDENTS_AT_ONCE && services.length > 1) {
    const half = services.length >> 1
    const first = await findUnresolved(store, tenant, services.slice(0, half))
    return new Map([...first, ...(await findUnresolved(store, tenant, services.slice(half)))])
  }
  const found = Map.groupBy<string, RestoredIncident>(hits.map(incidentOf), ({ service }) => service)
  return new Map([...found].map(([service, own]) => [service, own.slice(0, MAX_INCIDENTS_OF_SERVICE)]))
}

interface PatternCounts {
  readonly patterns?: { readonly buckets: readonly { readonly key: string; readonly doc_count: number }[] }
}

/**
 * Sets an incident's anomaly count, and those of its evidence, to what its anomaly documents say. An incident that began before `keptSinceMs`
 * keeps its count: some of its documents may be past retention.
 */
export async function recountIncident(
  store: SearchStore,
  { tenant, incidentId, keptSinceMs }: { readonly tenant: string; readonly incidentId: string; readonly keptSinceMs: number },
): Promise<void> {
  await store.refresh(anomaliesIndex(tenant))
  const { total, aggregations } = await store.search({
    index: anomaliesIndex(tenant),
    body: {
      size: 0,
      track_total_hits: true,
      query: { term: { incident_id: incidentId } },
      aggs: { patterns: { terms: { field: 'pattern_id', size: MAX_PATTERNS } } },
    },
  })
  const buckets = (aggregations as PatternCounts | undefined)?.patterns?.buckets ?? []
  const countOf = new Map(buckets.map(({ key, doc_count }) => [key, doc_count]))
  await retryOnConflict(async () => {
    const stored = await readStoredIncident(store, incidentsIndex(tenant), incidentId)
    if (stored === undefined || total === 0 || Date.parse(stored.source.firstSeen) < keptSinceMs) return
    const evidence: readonly Evidence[] = stored.source.evidence.map(each => ({
      ...each,
      count: countOf.get(each.patternId) ?? each.count,
    }))
    if (stored.source.anomalyCount === total && evidence.every(({ count }, i) => count === stored.source.evidence[i]!.count)) return
    await store.put(incidentsIndex(tenant), incidentId, { ...stored.source, anomalyCount: total, evidence }, stored)
  })
}
