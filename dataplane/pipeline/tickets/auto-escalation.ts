/** Escalates incidents that nobody took care of in time (Decisions 6). */
import { ALL_INCIDENTS, incidentsIndex } from '../../contract/indices.ts'
import { SEVERITIES, type Severity } from '../../contract/platforms.ts'
import type { TicketedIncident } from '../../domain/tickets/incident-tickets.ts'
import { findSilence } from '../../domain/tickets/silence.ts'
import type { Clock } from '../../ports/clock.ts'
import { type SearchStore, VersionConflict, type Versioned } from '../../ports/search-store.ts'
import type { TicketingConfigSource } from '../../ports/ticketing-config.ts'
import type { SilenceStore } from './silence-store.ts'

export interface AutoEscalationDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly config: TicketingConfigSource
  readonly silences: Pick<SilenceStore, 'recent'>
  /** Where many replicas ask at once, one has its way. */
  escalate(tenant: string, incidentId: string, note: string): Promise<void>
}

/** Incidents of a tenant and severity that one round escalates; the next round goes on. */
const MAX_OF_ROUND = 50
/** Services that are told from those that a silence holds back, those with most of the incidents first. */
const MAX_SERVICES = 1_000
/** Clocks of agents differ by less. A time that lies further ahead is of a clock that has been set back since. */
const CLOCKS_MS = 60_000
const MAX_TENANTS = 1_000

interface Services {
  readonly services?: { readonly buckets: readonly { readonly key: string }[] }
}

interface Tenants {
  readonly tenants?: { readonly buckets: readonly { readonly key: string }[] }
}

/**
 * One round. Changes of the configuration count at once, since nothing is planned ahead. A tenant or incident that fails keeps no other from being
 * escalated; the function rejects with the first failure when the round is over.
 */
export async function escalateOverdue({ store, clock, config, silences, escalate }: AutoEscalationDeps): Promise<void> {
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
    const nowMs = clock.nowMs()
    const iso = (ms: number) => new Date(ms).toISOString()
    const isOverdue = { range: { 'ticketing.dispatchedAt': { lte: iso(nowMs - afterMs) } } }
    const isAhead = { range: { 'ticketing.dispatchedAt': { gt: iso(nowMs + CLOCKS_MS) } } }
    const isDue = { bool: { should: [isOverdue, isAhead], minimum_should_match: 1 } }
    const query = { bool: { filter: [...open, { term: { severity } }, isDue] } }
    const services = await loudServices(tenant, severity, query, nowMs)
    if (services?.length === 0) return
    const { hits } = await store.search<TicketedIncident>({
      index: incidentsIndex(tenant),
      body: {
        size: MAX_OF_ROUND,
        track_total_hits: false,
        query: { bool: { filter: [query, ...(services === undefined ? [] : [{ terms: { service: services } }])] } },
        sort: [{ createdAt: { order: 'asc', unmapped_type: 'date' } }],
      },
    })
    for (const hit of hits)
      if (hit.source.ticketing!.dispatchedAt! > iso(nowMs)) await unhindered(countFrom(hit, iso(nowMs)))
      else await unhindered(escalate(tenant, hit.id, `still open ${describeSpan(afterMs)} after it was dispatched`))
  }

  /** Those among the services of what `query` finds that no silence holds back; undefined where none holds back any. */
  async function loudServices(tenant: string, severity: Severity, query: object, nowMs: number): Promise<readonly string[] | undefined> {
    const silent = (await silences.recent(tenant)).filter(({ from, to }) => Date.parse(from) <= nowMs && nowMs < Date.parse(to))
    if (silent.length === 0) return undefined
    const { aggregations } = await store.search({
      index: incidentsIndex(tenant),
      body: { size: 0, track_total_hits: false, query, aggs: { services: { terms: { field: 'service', size: MAX_SERVICES } } } },
    })
    const services = (aggregations as Services | undefined)?.services?.buckets.map(({ key }) => key) ?? []
    return services.filter(service => findSilence(silent, { service, severity }, nowMs) === undefined)
  }

  /** Somebody else may change the incident first: the next round sees. */
  async function countFrom({ index, id, source, ...version }: Versioned<TicketedIncident>, dispatchedAt: string): Promise<void> {
    try {
      await store.put(index, id, { ...source, ticketing: { ...source.ticketing, dispatchedAt } }, version)
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error
    }
  }
}

/** `15 min`, `90 s`. */
function describeSpan(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1_000} s`
}
