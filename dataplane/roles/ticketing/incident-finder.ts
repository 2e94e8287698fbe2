/** Finds the index that holds an incident, and whether the caller may see it. */
import { ALL_INCIDENTS, incidentsIndex } from '../../contract/indices.ts'
import type { StoredIncident } from '../../domain/incidents/stored-incident.ts'
import { HttpError } from '../../http/http-error.ts'
import { readStoredIncident } from '../../pipeline/incident-of.ts'
import { type SearchResult, type SearchStore, SearchStoreUnavailable, type Versioned } from '../../ports/search-store.ts'

export type Place =
  | { readonly kind: 'found'; readonly index: string }
  /** The incident exists, but belongs to another tenant than the caller's. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'unknown' }

const NONE: SearchResult<unknown> = { total: 0, hits: [] }
const UNKNOWN: Place = { kind: 'unknown' }

/** One search for all ids, at most 500; one more for those that are not the caller's. Other tenants may have an incident of the same id. */
export async function locateIncidents(
  store: SearchStore,
  ids: readonly string[],
  tenant: string | undefined,
): Promise<(id: string) => Place> {
  const find = async (index: string, values: readonly string[]) => {
    if (values.length === 0) return NONE
    const body = { size: values.length, track_total_hits: false, _source: ['tenantId'], query: { ids: { values } } }
    return await store.search({ index, body, takesPart: true })
  }
  const own = await find(tenant === undefined ? ALL_INCIDENTS : incidentsIndex(tenant), ids)
  // An incident that is not found may be in what is missing.
  if (own.missing !== undefined && own.hits.length < new Set(ids).size)
    throw new SearchStoreUnavailable('search store cannot read all incidents: one is not found')
  const places = new Map<string, Place>(own.hits.map(({ id, index }) => [id, { kind: 'found', index }]))
  if (tenant === undefined) return id => places.get(id) ?? UNKNOWN
  const missing = ids.filter(id => !places.has(id))
  for (const { id } of (await find(ALL_INCIDENTS, missing)).hits) places.set(id, { kind: 'foreign' })
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
