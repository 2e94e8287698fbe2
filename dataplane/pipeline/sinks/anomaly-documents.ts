import { anomaliesIndex } from '../../contract/indices.ts'
import type { Anomaly } from '../../domain/records.ts'
import type { BulkOperation, SearchStore } from '../../ports/search-store.ts'
import { type BulkWriterDeps, writeBulk } from './bulk-writer.ts'

/** Which incident anomalies count for, by anomaly id. */
export type Memberships = Map<string, { readonly tenant: string; readonly incidentId: string }>

/** Of anomalies that are stored: the incident each counts for; undefined while it counts for none. */
export type StoredMemberships = ReadonlyMap<string, string | undefined>

export interface WrittenAnomalies {
  /** Anomalies that were not stored before. */
  readonly created: number
  readonly errors: number
  readonly refused: readonly { readonly anomaly: Anomaly; readonly reason: string }[]
}

/** Looks up which of the anomalies are stored. */
export async function findMemberships(store: SearchStore, anomalies: readonly Anomaly[]): Promise<StoredMemberships> {
  const found = new Map<string, string | undefined>()
  for (const [tenant, own] of Map.groupBy(anomalies, ({ tenant_id }) => tenant_id)) {
    const ids = [...new Set(own.map(({ id }) => id))]
    const stored = await store.getMany<Pick<Anomaly, 'incident_id'>>(anomaliesIndex(tenant), ids, ['incident_id'])
    for (const [id, { source }] of stored) found.set(id, source.incident_id)
  }
  return found
}

/** Stores anomalies with the incident each counts for, and names that incident in those stored before. */
export async function writeAnomalies(
  anomalies: readonly Anomaly[],
  { stored, memberships }: { readonly stored: StoredMemberships; readonly memberships: Memberships },
  deps: BulkWriterDeps,
): Promise<WrittenAnomalies> {
  const toCreate = [...new Map(anomalies.filter(({ id }) => !stored.has(id)).map(anomaly => [anomaly.id, anomaly])).values()]
  const creating = new Set(toCreate.map(({ id }) => id))
  const creations = toCreate.map(anomaly => createItem(anomaly, memberships.get(anomaly.id)?.incidentId))
  const joins = [...memberships].filter(([id]) => !creating.has(id)).map(([id, { tenant, incidentId }]) => joinItem(tenant, id, incidentId))
  const { created, errors, refused } = await writeBulk([...creations, ...joins], deps)
  return {
    created,
    errors,
    refused: refused.flatMap(({ item, reason }) => (item < toCreate.length ? [{ anomaly: toCreate[item]!, reason }] : [])),
  }
}

function createItem(anomaly: Anomaly, incidentId: string | undefined): BulkOperation {
  const document = incidentId === undefined ? anomaly : { ...anomaly, incident_id: incidentId }
  return { action: 'create', index: anomaliesIndex(anomaly.tenant_id), id: anomaly.id, body: JSON.stringify(document) }
}

function joinItem(tenant: string, id: string, incidentId: string): BulkOperation {
  return { action: 'update', index: anomaliesIndex(tenant), id, body: JSON.stringify({ incident_id: incidentId }) }
}
