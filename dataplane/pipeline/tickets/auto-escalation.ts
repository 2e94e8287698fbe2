/** Escalates incidents that nobody took care of in time (Decisions 6). */
import { ALL_INCIDENTS, incidentsIndex } from '../../contract/indices.ts'
import { SEVERITIES, type Severity } from '../../contract/platforms.ts'
import type { TicketedIncident } from '../../domain/tickets/incident-tickets.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { TicketingConfigSource } from '../../ports/ticketing-config.ts'

export interface AutoEscalationDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly config: TicketingConfigSource
  /** Where many replicas ask at once, one has its way. */
  escalate(tenant: string, incidentId: string, note: string): Promise<void>
}

/** Incidents of a tenant and severity that one round escalates; the next round goes on. */
const MAX_OF_ROUND = 50
const MAX_TENANTS = 1_000

interface Tenants {
  readonly tenants?: { readonly buckets: readonly { readonly key: string }[] }
}

/**
 * One round. Changes of the configuration count at once, since nothing is planned ahead. A tenant or incident that fails keeps no other from being
 * escalated; the function rejects with the first failure when the round is over.
 */
export async function escalateOverdue({ store, clock, config, escalate }: AutoEscalationDeps): Promise<void> {
  const failures: unknown[] = []
  const unhindered = (work: Promise<void>) => work.catch(error => void failures.push(error))
  const open = [{ term: { status: 'open' } }, { exists: { field: 'ticketing.dispatchedAt' } }]
  const { aggregations } = await store.search({
    index: ALL_INCIDENTS,
    takesPart: true,
    body: {
      size: 0,
      track_total_hits: false,
      query: { bool: { filter: open } },
      aggs: { tenants: { terms: { field: 'tenantId', size: MAX_TENANTS } } },
    },
  })
  for (const { key: tenant } of (aggregations as Tenants | undefined)?.tenants?.buckets ?? []) await unhindered(escalateAll(tenant))
  if (failures.length > 0) throw failures[0]

  async function escalateAll(tenant: string): Promise<void> {
    const { escalateAfterMs } = await config.load(tenant)
    for (const severity of SEVERITIES) {
      const afterMs = escalateAfterMs[severity]
      if (afterMs !== null && afterMs !== undefined) await escalateOf(tenant, severity, afterMs)
    }
  }

  async function escalateOf(tenant: string, severity: Severity, afterMs: number): Promise<void> {
    const lte = new Date(clock.nowMs() - afterMs).toISOString()
    const { hits } = await store.search<TicketedIncident>({
      index: incidentsIndex(tenant),
      body: {
        size: MAX_OF_ROUND,
        track_total_hits: false,
        query: { bool: { filter: [...open, { term: { severity } }, { range: { 'ticketing.dispatchedAt': { lte } } }] } },
        sort: [{ createdAt: { order: 'asc', unmapped_type: 'date' } }],
      },
    })
    for (const { id } of hits) await unhindered(escalate(tenant, id, `still open ${describeSpan(afterMs)} after it was dispatched`))
  }
}

/** `15 min`, `90 s`. */
function describeSpan(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1_000} s`
}
