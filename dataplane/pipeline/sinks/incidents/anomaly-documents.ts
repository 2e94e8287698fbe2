/** Writes anomalies as documents, each with the incident that it counts for. */
import { anomaliesIndex } from '../../../contract/indices.ts'
import type { Anomaly } from '../../../domain/anomalies/anomaly.ts'
import { portionsOf } from '../../../limits/portions-of.ts'
import type { BulkOperation, SearchStore } from '../../../ports/search-store.ts'
import { type BulkResult, BulkUnfinished, type BulkWriterDeps, type RefusedItem, writeBulk } from '../bulk-writer.ts'
import { forEachTenant, TenantFailure } from '../tenants/tenant-failure.ts'

/** Which incident anomalies count for, by anomaly id. */
export type Memberships = Map<string, { readonly tenant: string; readonly incidentId: string }>

/** The incident that each stored anomaly counts for; undefined while it counts for none. */
export type StoredMemberships = ReadonlyMap<string, string | undefined>

export interface WrittenAnomalies extends Pick<BulkResult, 'created' | 'errors'> {
  readonly refused: readonly RefusedAnomaly[]
}

/** Where `hasNoRoom` the tenant of the anomaly has no index, and the store makes no further index. */
export interface RefusedAnomaly extends Omit<RefusedItem, 'item'> {
  readonly anomaly: Anomaly
}

/** Looks up which of the anomalies are stored. */
export async function findMemberships(store: SearchStore, anomalies: readonly Anomaly[]): Promise<StoredMemberships> {
  const found = new Map<string, string | undefined>()
  await forEachTenant(byTenant(anomalies), async ({ tenant, own }) => {
    const ids = own.map(({ id }) => id)
    for (const some of portionsOf(ids, LOOKUP_IDS)) {
      const stored = await store.getMany<Pick<Anomaly, 'incident_id'>>(anomaliesIndex(tenant), some, ['incident_id'])
      for (const [id, { source }] of stored) found.set(id, source.incident_id)
    }
  })
  return found
}

/** Ids asked for in one request. */
const LOOKUP_IDS = 1_000

/**
 * The same for anomalies of the recent past, in a store that has just been started: a sorted search within their span of time, which reads
 * nothing of the many that lie before.
 */
export async function findRecentMemberships(store: SearchStore, anomalies: readonly Anomaly[]): Promise<StoredMemberships> {
  const found = new Map<string, string | undefined>()
  await forEachTenant(byTenant(anomalies), async ({ tenant, own }) => {
    const index = anomaliesIndex(tenant)
    await store.refresh(index)
    for (const some of portionsOf(own, LOOKUP_IDS)) {
      const { hits } = await store.search<Pick<Anomaly, 'incident_id'>>({ index, body: lookup(some) })
      for (const { id, source } of hits) found.set(id, source.incident_id)
    }
  })
  return found
}

function lookup(anomalies: readonly Anomaly[]) {
  const times = anomalies.map(({ timestamp }) => timestamp).sort((a, b) => Date.parse(a) - Date.parse(b))
  const filter = [{ range: { timestamp: { gte: times[0], lte: times.at(-1) } } }, { terms: { id: anomalies.map(({ id }) => id) } }]
  return {
    size: LOOKUP_IDS,
    track_total_hits: false,
    _source: ['incident_id'],
    query: { bool: { filter } },
    sort: [{ timestamp: { order: 'desc', unmapped_type: 'date' } }],
  }
}

/** Stores anomalies with the incident each counts for, and names that incident in those stored before. */
export async function writeAnomalies(
  anomalies: readonly Anomaly[],
  { stored, memberships }: { readonly stored: StoredMemberships; readonly memberships: Memberships },
  deps: BulkWriterDeps,
): Promise<WrittenAnomalies> {
  const toCreate = [...new Map(anomalies.filter(({ id }) => !stored.has(id)).map(anomaly => [anomaly.id, anomaly])).values()]
  const creating = new Set(toCreate.map(({ id }) => id))
  const indexedAt = new Date(deps.clock.nowMs()).toISOString()
  const creations = toCreate.map(anomaly => createItem(anomaly, indexedAt, memberships.get(anomaly.id)?.incidentId))
  const joins = [...memberships].filter(([id]) => !creating.has(id)).map(([id, { tenant, incidentId }]) => joinItem(tenant, id, incidentId))
  const { created, errors, refused } = await writeOrName([...creations, ...joins], deps)
  return {
    created,
    errors,
    refused: refused.flatMap(({ item, reason, hasNoRoom }) =>
      item < toCreate.length ? [{ anomaly: toCreate[item]!, reason, hasNoRoom }] : [],
    ),
  }
}

/** Each anomaly once. */
function byTenant(anomalies: readonly Anomaly[]): readonly { readonly tenant: string; readonly own: readonly Anomaly[] }[] {
  const distinct = new Map(anomalies.map(anomaly => [anomaly.id, anomaly]))
  return [...Map.groupBy(distinct.values(), ({ tenant_id }) => tenant_id)].map(([tenant, own]) => ({ tenant, own }))
}

/** Fails soon, and names the tenants: whose indices do not work must not hold up the others. */
const MAX_ATTEMPTS = 6

async function writeOrName(operations: readonly BulkOperation[], deps: BulkWriterDeps): Promise<BulkResult> {
  try {
    return await writeBulk(operations, { ...deps, refusesWithoutRoom: true, maxAttempts: MAX_ATTEMPTS })
  } catch (error) {
    if (!(error instanceof BulkUnfinished)) throw error
    throw new TenantFailure(
      [...error.indices].map(index => index.slice(anomaliesIndex('').length)),
      error,
    )
  }
}

/** `indexedAt`: retention counts from it where the anomaly itself is older. */
function createItem(anomaly: Anomaly, indexedAt: string, incidentId: string | undefined): BulkOperation {
  const document = { ...anomaly, ...(incidentId !== undefined && { incident_id: incidentId }), indexed_at: indexedAt }
  return { action: 'create', index: anomaliesIndex(anomaly.tenant_id), id: anomaly.id, body: JSON.stringify(document) }
}

function joinItem(tenant: string, id: string, incidentId: string): BulkOperation {
  return { action: 'update', index: anomaliesIndex(tenant), id, body: JSON.stringify({ incident_id: incidentId }) }
}
