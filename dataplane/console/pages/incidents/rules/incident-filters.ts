/** Which incidents the list shows: the filters of the URL, and the requests they need. Its pages: `incident-pages.ts`. */
import { SEVERITIES, type Severity } from '../../../../contract/platforms.ts'
import { INCIDENT_STATUSES, type IncidentStatus } from '../../../../domain/incidents/incident-status.ts'

export type StatusFilter = IncidentStatus | 'unresolved' | 'all'
export type ListOrder = 'severity' | 'newest'

export interface IncidentFilters {
  readonly status: StatusFilter
  readonly severity?: Severity
  readonly service?: string
  /** How far back: a key of `SPANS`. */
  readonly since?: string
  /** Recurring incidents are folded away unless this is set. */
  readonly showsRecurring: boolean
  readonly order: ListOrder
}

export const NO_FILTERS: IncidentFilters = { status: 'unresolved', showsRecurring: false, order: 'severity' }

/** How far back a list can go, ms. */
export const SPANS: Readonly<Record<string, { readonly label: string; readonly ms: number }>> = {
  '1h': { label: 'Last hour', ms: 3_600_000 },
  '24h': { label: 'Last 24 hours', ms: 86_400_000 },
  '7d': { label: 'Last 7 days', ms: 7 * 86_400_000 },
  '30d': { label: 'Last 30 days', ms: 30 * 86_400_000 },
}

const STATUS_FILTERS: readonly StatusFilter[] = ['unresolved', ...INCIDENT_STATUSES, 'all']
export const UNRESOLVED: readonly IncidentStatus[] = ['open', 'escalated', 'acknowledged']

/** The filters that a URL names; a value that cannot be read counts as absent. */
export function readFilters(search: URLSearchParams): IncidentFilters {
  const status = search.get('status') as StatusFilter | null
  const severity = search.get('severity') as Severity | null
  const service = search.get('service')
  const since = search.get('since')
  return {
    status: status !== null && STATUS_FILTERS.includes(status) ? status : NO_FILTERS.status,
    ...(severity !== null && SEVERITIES.includes(severity) && { severity }),
    ...(service !== null && service !== '' && { service }),
    ...(since !== null && Object.hasOwn(SPANS, since) && { since }),
    showsRecurring: search.get('recurring') === 'show',
    order: search.get('order') === 'newest' ? 'newest' : 'severity',
  }
}

/** The query string of the filters; defaults are left out. */
export function writeFilters({
  status,
  severity,
  service,
  since,
  showsRecurring,
  order,
}: IncidentFilters): Readonly<Record<string, string | undefined>> {
  return {
    status: status === NO_FILTERS.status ? undefined : status,
    severity,
    service,
    since,
    recurring: showsRecurring ? 'show' : undefined,
    order: order === NO_FILTERS.order ? undefined : order,
  }
}

export function isFiltered({ status, severity, service, since }: IncidentFilters): boolean {
  return status !== NO_FILTERS.status || severity !== undefined || service !== undefined || since !== undefined
}

/** The API takes one status: `undefined` stands for all. */
export function statusesOf(status: StatusFilter): readonly (IncidentStatus | undefined)[] {
  return status === 'unresolved' ? UNRESOLVED : status === 'all' ? [undefined] : [status]
}

/** Services that can be chosen. */
const SERVICES_COUNTED = 1_000
/** Incidents of an answer, and by which the list grows at least; a button reads more. */
export const PAGE_SIZE = 200

/** The incidents of one request; undefined: of every status, of every severity, from the newest on. */
export interface ListQuery {
  readonly status?: IncidentStatus | undefined
  readonly severity?: Severity | undefined
  readonly cursor?: string | undefined
}

/** Query of `GET /api/incidents`. */
export function listQuery(
  { service, since, showsRecurring }: IncidentFilters,
  { status, severity, cursor, nowMs }: ListQuery & { readonly nowMs: number },
): Readonly<Record<string, string>> {
  const span = since === undefined ? undefined : SPANS[since]
  const all = {
    limit: String(PAGE_SIZE),
    status,
    severity,
    service,
    recurring: showsRecurring ? undefined : 'false',
    // To the minute: the same question has the same name for a while.
    from: span === undefined ? undefined : new Date(Math.floor((nowMs - span.ms) / 60_000) * 60_000).toISOString(),
    cursor,
  }
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** The search store's query for the same incidents, with one dimension left open, so that its counts say what another choice would show. */
export function countsQuery(filters: IncidentFilters, nowMs: number): Readonly<Record<string, unknown>> {
  const { severity, service, since, showsRecurring, status } = filters
  const span = since === undefined ? undefined : SPANS[since]
  const recurring = { term: { recurring: true } }
  const bySeverity = severity === undefined ? [] : [{ term: { severity } }]
  const byStatus = status === 'all' ? [] : [{ terms: { status: status === 'unresolved' ? UNRESOLVED : [status] } }]
  const byService = service === undefined ? [] : [{ term: { service } }]
  const notRecurring = showsRecurring ? [] : [{ bool: { must_not: [recurring] } }]
  const facet = (filter: readonly object[], field: string, size: number) => ({
    filter: { bool: { filter } },
    aggs: { values: { terms: { field, size } } },
  })
  return {
    size: 0,
    track_total_hits: false,
    query: { bool: { filter: span === undefined ? [] : [{ range: { createdAt: { gte: new Date(nowMs - span.ms).toISOString() } } }] } },
    aggs: {
      status: facet([...bySeverity, ...byService, ...notRecurring], 'status', 10),
      severity: facet([...byStatus, ...byService, ...notRecurring], 'severity', 10),
      service: facet([...byStatus, ...bySeverity, ...notRecurring], 'service', SERVICES_COUNTED),
      recurring: { filter: { bool: { filter: [...byStatus, ...bySeverity, ...byService, recurring] } } },
    },
  }
}

export interface IncidentCounts {
  readonly status: Readonly<Record<string, number>>
  readonly severity: Readonly<Record<string, number>>
  readonly service: Readonly<Record<string, number>>
  readonly recurring: number
}

interface Facet {
  readonly values?: { readonly buckets: readonly { readonly key: string; readonly doc_count: number }[] }
}

export function readCounts({
  aggregations = {},
}: {
  readonly aggregations?: { readonly [name: string]: Facet & { readonly doc_count?: number } }
}): IncidentCounts {
  const countsOf = (name: string) =>
    Object.fromEntries((aggregations[name]?.values?.buckets ?? []).map(({ key, doc_count }) => [key, doc_count]))
  return {
    ...{ status: countsOf('status'), severity: countsOf('severity'), service: countsOf('service') },
    recurring: aggregations['recurring']?.doc_count ?? 0,
  }
}

/** How many a choice of status would show. */
export function countOf({ status }: IncidentCounts, filter: StatusFilter): number {
  const chosen = filter === 'all' ? INCIDENT_STATUSES : filter === 'unresolved' ? UNRESOLVED : [filter]
  return chosen.reduce((sum, each) => sum + (status[each] ?? 0), 0)
}
