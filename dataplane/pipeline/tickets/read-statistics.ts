/** Reads what statistics are made of: incidents of a time, and their audit entries. */
import { ALL_AUDIT, ALL_INCIDENTS, auditIndex, incidentsIndex } from '../../contract/indices.ts'
import type { AuditEntry } from '../../domain/incidents/audit-entry.ts'
import { createStatistics, type TicketStatistics } from '../../domain/tickets/ticket-statistics.ts'
import type { SearchStore, Versioned } from '../../ports/search-store.ts'
import { incidentOf } from '../incident-of.ts'

const PAGE_SIZE = 1_000
/** Documents of either kind that are looked at, the oldest first. */
const MAX_READ = 100_000

export interface StatisticsPeriod {
  /** ISO-8601, both inclusive: when incidents were created. */
  readonly from: string
  readonly to: string
  /** Undefined: all. */
  readonly tenant: string | undefined
}

export async function readStatistics(store: SearchStore, { from, to, tenant }: StatisticsPeriod): Promise<TicketStatistics> {
  const statistics = createStatistics()
  const incidents = {
    index: tenant === undefined ? ALL_INCIDENTS : incidentsIndex(tenant),
    filter: { range: { createdAt: { gte: from, lte: to } } },
    sort: ['createdAt', 'id'],
    fields: ['id', 'severity', 'service', 'createdAt'],
  }
  await forEach(store, incidents, hit => statistics.addIncident(incidentOf(hit)))
  const index = tenant === undefined ? ALL_AUDIT : auditIndex(tenant)
  // Written a moment ago, they count as well.
  await store.refresh(index)
  const entries = {
    index,
    filter: {
      bool: { filter: [{ range: { timestamp: { gte: from } } }, { terms: { action: ['acknowledged', 'resolved', 'reopened'] } }] },
    },
    sort: ['timestamp', 'incident_id'],
    fields: ['incident_id', 'action', 'timestamp'],
  }
  await forEach<AuditEntry>(store, entries, ({ source }) => statistics.addEntry(source))
  return statistics.result()
}

interface Pages {
  readonly index: string
  readonly filter: object
  /** A date and a keyword. */
  readonly sort: readonly string[]
  readonly fields: readonly string[]
}

async function forEach<T>(
  store: SearchStore,
  { index, filter, sort, fields }: Pages,
  take: (document: Versioned<T>) => void,
): Promise<void> {
  const types = ['date', 'keyword']
  let after: readonly unknown[] | undefined
  for (let read = 0; read < MAX_READ; read += PAGE_SIZE) {
    const { hits } = await store.search<T>({
      index,
      body: {
        size: PAGE_SIZE,
        track_total_hits: false,
        _source: fields,
        query: { bool: { filter: [filter] } },
        sort: [...sort.map((field, i) => ({ [field]: { order: 'asc', unmapped_type: types[i] } })), { _seq_no: { order: 'asc' } }],
        ...(after === undefined ? {} : { search_after: after }),
      },
    })
    for (const hit of hits) take(hit)
    after = hits.at(-1)?.sort
    if (hits.length < PAGE_SIZE || after === undefined) return
  }
}
