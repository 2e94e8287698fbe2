/** Which incidents a ticket of a platform belongs to: by the threads of the outbox. */
import { ALL_DISPATCHES } from '../../../contract/indices.ts'
import type { TargetId } from '../../../contract/target-id.ts'
import type { SearchStore } from '../../../ports/search-store.ts'

export interface TicketedIncident {
  readonly tenantId: string
  readonly incidentId: string
}

/** Tickets of two tenants may have the same name on two servers of a platform. */
const MAX_FOUND = 50

/** Incidents of any tenant that have a ticket on the target with one of the names. */
export async function findTicketed(store: SearchStore, target: TargetId, names: readonly string[]): Promise<readonly TicketedIncident[]> {
  if (names.length === 0) return []
  const found = await search(store, target, names)
  if (found.length > 0) return found
  // It may have been written just now.
  await store.refresh(ALL_DISPATCHES)
  return search(store, target, names)
}

async function search(store: SearchStore, target: TargetId, names: readonly string[]): Promise<readonly TicketedIncident[]> {
  const isNamed = { bool: { should: [{ terms: { ticketKey: names } }, { terms: { externalId: names } }], minimum_should_match: 1 } }
  const body = {
    size: MAX_FOUND,
    _source: ['tenantId', 'incidentId'],
    query: { bool: { filter: [{ term: { platform: target } }, isNamed] } },
  }
  const { hits } = await store.search<TicketedIncident>({ index: ALL_DISPATCHES, body })
  return hits.map(({ source: { tenantId, incidentId } }) => ({ tenantId, incidentId }))
}
