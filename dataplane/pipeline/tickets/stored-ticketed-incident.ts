import { incidentsIndex } from '../../contract/indices.ts'
import type { TicketedIncident } from '../../domain/tickets/incident-tickets.ts'
import type { SearchStore, Versioned } from '../../ports/search-store.ts'

const PREFIX_LENGTH = incidentsIndex('').length

/** Undefined when it is not there. */
export async function readTicketed(
  store: Pick<SearchStore, 'get'>,
  index: string,
  id: string,
): Promise<Versioned<TicketedIncident> | undefined> {
  const stored = await store.get<TicketedIncident>(index, id)
  return stored === undefined ? undefined : { ...stored, source: completeIncident(stored) }
}

/** An incident with all that tickets need of it; missing fields get defaults. */
export function completeIncident({ source: stored, index, id }: Versioned<Partial<TicketedIncident>>): TicketedIncident {
  const service = stored.service ?? 'unknown_service'
  const createdAt = stored.createdAt ?? stored.updatedAt ?? new Date(0).toISOString()
  const firstSeen = stored.firstSeen ?? createdAt
  return {
    id,
    title: `${service}: anomalous log records`,
    severity: 'medium',
    status: 'open',
    anomalyScore: 0,
    anomalyCount: 0,
    updatedAt: createdAt,
    lastSeen: stored.lastSeen ?? firstSeen,
    ...stored,
    service,
    createdAt,
    firstSeen,
    tenantId: stored.tenantId ?? index.slice(PREFIX_LENGTH),
    affectedServices: stored.affectedServices ?? [service],
    platforms: stored.platforms ?? [],
    evidence: stored.evidence ?? [],
  }
}
