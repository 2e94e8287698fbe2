/** Which incident a ticket of a platform belongs to: by the threads of the outbox. */
import { ALL_DISPATCHES } from '../../../contract/indices.ts'
import type { TargetId } from '../../../contract/target-id.ts'
import type { TicketThread } from '../../../domain/tickets/ticket-thread.ts'
import { type SearchStore, SearchStoreUnavailable } from '../../../ports/search-store.ts'

export interface IncidentOfTicket {
  readonly tenantId: string
  readonly incidentId: string
  /** Index and id of the document of the thread. */
  readonly thread: readonly [string, string]
}

export interface TicketQuestion {
  readonly target: TargetId
  /** Names of the ticket: one that fits is enough. */
  readonly names: readonly string[]
  /** Whether incidents of a tenant may be what is looked for: tickets of several may have one name, on servers of their own. */
  isPossible(tenant: string): Promise<boolean>
}

const PAGE_SIZE = 50
/** Each leaves out the tenants that were found before, so that nobody's many tickets hide another's one. */
const MAX_PAGES = 1_000

export async function findTicketed(store: SearchStore, question: TicketQuestion): Promise<IncidentOfTicket | undefined> {
  if (question.names.length === 0) return undefined
  const found = await search(store, question)
  if (found !== undefined) return found
  // It may have been written just now.
  await store.refresh(ALL_DISPATCHES)
  return search(store, question)
}

async function search(store: SearchStore, { target, names, isPossible }: TicketQuestion): Promise<IncidentOfTicket | undefined> {
  const isNamed = { bool: { should: [{ terms: { ticketKey: names } }, { terms: { externalId: names } }], minimum_should_match: 1 } }
  const others = new Set<string>()
  for (let page = 0; page < MAX_PAGES; page++) {
    const body = {
      size: PAGE_SIZE,
      track_total_hits: false,
      _source: ['tenantId', 'incidentId'],
      query: { bool: { filter: [{ term: { platform: target } }, isNamed], must_not: [{ terms: { tenantId: [...others] } }] } },
    }
    const { hits, missing } = await store.search<Pick<TicketThread, 'tenantId' | 'incidentId'>>({
      ...{ index: ALL_DISPATCHES, body, takesPart: true },
    })
    if (hits.length === 0 && missing !== undefined)
      throw new SearchStoreUnavailable('search store cannot read all dispatches: a ticket is not found')
    if (hits.length === 0) return undefined
    for (const { index, id, source } of hits) {
      const { tenantId, incidentId } = source
      if (others.has(tenantId)) continue
      if (await isPossible(tenantId)) return { tenantId, incidentId, thread: [index, id] }
      others.add(tenantId)
    }
  }
  return undefined
}
