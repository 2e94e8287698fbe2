import { incidentsIndex } from '../contract/indices.ts'
import { completeIncident } from '../domain/incidents/complete-incident.ts'
import type { StoredIncident } from '../domain/incidents/stored-incident.ts'
import type { SearchStore, Versioned } from '../ports/search-store.ts'

const PREFIX_LENGTH = incidentsIndex('').length

/** The incident of a stored document, with defaults for fields that are missing or of another kind. */
export function incidentOf({ source, index, id }: Pick<Versioned<unknown>, 'source' | 'index' | 'id'>): StoredIncident {
  return completeIncident(source, { id, tenant: index.slice(PREFIX_LENGTH) })
}

/** The latest version of an incident; undefined when it is not there. */
export async function readStoredIncident(
  store: Pick<SearchStore, 'get'>,
  index: string,
  id: string,
): Promise<Versioned<StoredIncident> | undefined> {
  const stored = await store.get<unknown>(index, id)
  return stored === undefined ? undefined : { ...stored, source: incidentOf(stored) }
}
