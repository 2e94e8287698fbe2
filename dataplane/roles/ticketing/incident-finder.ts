/** Finds the index that holds an incident, and whether the caller may see it. */
import { ALL_INCIDENTS, incidentsIndex } from '../../contract/indices.ts'
import type { StoredIncident } from '../../domain/incidents/stored-incident.ts'
import { HttpError } from '../../http/http-error.ts'
import { readStoredIncident } from '../../pipeline/incident-of.ts'
import type { SearchStore, Versioned } from '../../ports/search-store.ts'

export type Place =
  | { readonly kind: 'found'; readonly index: string }
  /** It exists, but belongs to another tenant than the caller's. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'unknown' }

const UNKNOWN: Place = { kind: 'unknown' }

/** One search for all ids; at most 500. */
export async function locateIncidents(
  store: SearchStore,
  ids: readonly string[],
  tenant: string | undefined,
): Promise<(id: string) => Place> {
  const body = { size: ids.length, _source: ['tenantId'], query: { ids: { values: ids } } }
  const { hits } = await store.search({ index: ALL_INCIDENTS, body })
  const places = new Map<string, Place>()
  for (const { id, index } of hits)
    places.set(id, tenant === undefined || index === incidentsIndex(tenant) ? { kind: 'found', index } : { kind: 'foreign' })
  return id => places.get(id) ?? UNKNOWN
}

/** The index of one incident. Throws `HttpError` 403 outside the caller's tenant, 404 for an unknown id. */
export async function locateIncident(store: SearchStore, id: string, tenant: string | undefined): Promise<string> {
  const place = (await locateIncidents(store, [id], tenant))(id)
  if (place.kind === 'found') return place.index
  throw place.kind === 'foreign' ? new HttpError(403, `incident ${id} belongs to another tenant`) : unknownIncident(id)
}

/** The latest version of one incident. Throws as `locateIncident`. */
export async function readIncident(store: SearchStore, id: string, tenant: string | undefined): Promise<Versioned<StoredIncident>> {
  const incident = await readStoredIncident(store, await locateIncident(store, id, tenant), id)
  if (incident === undefined) throw unknownIncident(id)
  return incident
}

export function unknownIncident(id: string): HttpError {
  return new HttpError(404, `no incident has the id ${JSON.stringify(id.slice(0, 100))}`)
}
