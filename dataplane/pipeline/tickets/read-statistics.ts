/** Reads what statistics are made of: incidents of a time in one aggregation, and the audit entries of those that were opened again. */
import { ALL_AUDIT, ALL_INCIDENTS, auditIndex, incidentsIndex } from '../../contract/indices.ts'
import { SEVERITIES, type Severity } from '../../contract/platforms.ts'
import type { AuditEntry } from '../../domain/incidents/audit-entry.ts'
import { type Courses, createCourses, type Durations, meanSeconds, type TicketStatistics } from '../../domain/tickets/ticket-statistics.ts'
import type { SearchResult, SearchStore, Versioned } from '../../ports/search-store.ts'
import { incidentOf } from '../incident-of.ts'

const PAGE_SIZE = 500
/** Services that are named, those with most incidents. */
const MAX_SERVICES = 1_000
/** Incidents that were opened again, whose audit entries are read, the newest. */
const MAX_REOPENED = 5_000
/** Audit entries of a page of these, the oldest. */
const MAX_ENTRIES = 10_000

export interface StatisticsPeriod {
  /** ISO-8601, both inclusive: when incidents were created. */
  readonly from: string
  readonly to: string
  /** Undefined: all. */
  readonly tenant: string | undefined
}

const REOPENED = { exists: { field: 'reopenedAt' } }

/** Incidents that were never reopened had the change once at most, at the time in the incident. */
const onceChanged = (field: string) => ({
  filter: { bool: { filter: [{ exists: { field } }], must_not: [REOPENED] } },
  aggs: { changed: { avg: { field } }, created: { avg: { field: 'createdAt' } } },
})

interface Buckets {
  readonly buckets: readonly { readonly key: unknown; readonly doc_count: number }[]
  readonly sum_other_doc_count?: number
}

interface OnceChanged {
  readonly doc_count: number
  readonly changed: { readonly value: number | null }
  readonly created: { readonly value: number | null }
}

export async function readStatistics(store: SearchStore, { from, to, tenant }: StatisticsPeriod): Promise<TicketStatistics> {
  const index = tenant === undefined ? ALL_INCIDENTS : incidentsIndex(tenant)
  const inPeriod = { range: { createdAt: { gte: from, lte: to } } }
  const { total, aggregations } = await store.search({
    index,
    body: {
      size: 0,
      track_total_hits: true,
      query: { bool: { filter: [inPeriod] } },
      aggs: {
        severities: { terms: { field: 'severity', size: 100 } },
        services: { terms: { field: 'service', size: MAX_SERVICES } },
        acknowledged: onceChanged('acknowledgedAt'),
        resolved: onceChanged('resolvedAt'),
        reopened: { filter: REOPENED },
      },
    },
  })
  const found = aggregations as
    | {
        readonly severities: Buckets
        readonly services: Buckets
        readonly acknowledged: OnceChanged
        readonly resolved: OnceChanged
        readonly reopened: { readonly doc_count: number }
      }
    | undefined
  // An answer over no index at all has no aggregations.
  if (found === undefined || total === 0)
    return { incidents: 0, bySeverity: severitiesOf(0), byService: {}, mttaSeconds: null, mttrSeconds: null }
  const again = createCourses()
  if (found.reopened.doc_count > 0) await readReopened(store, { index, inPeriod, tenant }, again)
  const { acknowledged, resolved } = again.result()
  return {
    incidents: total,
    bySeverity: severitiesOf(total, found.severities),
    byService: servicesOf(total, found.services),
    mttaSeconds: meanSeconds([durationsOf(found.acknowledged), acknowledged]),
    mttrSeconds: meanSeconds([durationsOf(found.resolved), resolved]),
  }
}

/** Incidents of another severity, or of none, count as they are shown. */
function severitiesOf(total: number, { buckets }: Buckets = { buckets: [] }): Record<Severity, number> {
  const counts = Object.fromEntries(SEVERITIES.map(severity => [severity, 0])) as Record<Severity, number>
  let others = total
  for (const { key, doc_count } of buckets) {
    if (!SEVERITIES.some(severity => severity === key)) continue
    counts[key as Severity] += doc_count
    others -= doc_count
  }
  counts.medium += others
  return counts
}

function servicesOf(total: number, { buckets, sum_other_doc_count = 0 }: Buckets): Record<string, number> {
  const named = buckets.filter(({ key }) => typeof key === 'string' && key !== '')
  const unnamed = total - sum_other_doc_count - named.reduce((sum, { doc_count }) => sum + doc_count, 0)
  const counts = new Map(named.map(({ key, doc_count }) => [key as string, doc_count]))
  if (unnamed > 0) counts.set(UNKNOWN_SERVICE, (counts.get(UNKNOWN_SERVICE) ?? 0) + unnamed)
  return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1]))
}

const UNKNOWN_SERVICE = 'unknown_service'

function durationsOf({ doc_count: count, changed, created }: OnceChanged): Durations {
  if (count === 0 || changed.value === null || created.value === null) return { count: 0, totalMs: 0 }
  return { count, totalMs: count * Math.max(0, changed.value - created.value) }
}

interface ReopenedOf {
  readonly index: string
  readonly inPeriod: object
  readonly tenant: string | undefined
}

async function readReopened(store: SearchStore, { index, inPeriod, tenant }: ReopenedOf, courses: Courses): Promise<void> {
  const audit = tenant === undefined ? ALL_AUDIT : auditIndex(tenant)
  // Written a moment ago, they count as well.
  await store.refresh(audit)
  let after: readonly unknown[] | undefined
  for (let read = 0; read < MAX_REOPENED; read += PAGE_SIZE) {
    const { hits }: SearchResult<unknown> = await store.search<unknown>({
      index,
      body: {
        size: PAGE_SIZE,
        track_total_hits: false,
        _source: ['id', 'createdAt'],
        query: { bool: { filter: [inPeriod, REOPENED] } },
        sort: [{ createdAt: { order: 'desc', unmapped_type: 'date' } }, { _seq_no: { order: 'asc' } }],
        ...(after === undefined ? {} : { search_after: after }),
      },
    })
    const incidents = hits.map(incidentOf)
    for (const incident of incidents) courses.addIncident(incident)
    if (incidents.length > 0)
      for (const { source } of await entriesOf(
        store,
        audit,
        incidents.map(({ id }) => id),
      ))
        courses.addEntry(source)
    after = hits.at(-1)?.sort
    if (hits.length < PAGE_SIZE || after === undefined) return
  }
}

async function entriesOf(store: SearchStore, index: string, ids: readonly string[]): Promise<readonly Versioned<AuditEntry>[]> {
  const { hits } = await store.search<AuditEntry>({
    index,
    body: {
      size: MAX_ENTRIES,
      track_total_hits: false,
      _source: ['incident_id', 'action', 'timestamp'],
      query: { bool: { filter: [{ terms: { incident_id: ids } }, { terms: { action: ['acknowledged', 'resolved', 'reopened'] } }] } },
      sort: [{ timestamp: { order: 'asc', unmapped_type: 'date' } }, { _seq_no: { order: 'asc' } }],
    },
  })
  return hits
}
