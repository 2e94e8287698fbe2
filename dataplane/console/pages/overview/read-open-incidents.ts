/** Incidents that nobody looks at yet: how many there are, and the worst of them, also in a storm. */
import { type Incident, type IncidentFilter, type IncidentPage, SEVERITIES } from '../../api/ticketing.ts'
import type { IncidentCounts } from '../incidents/rules/incident-filters.ts'

export type OpenStatus = 'open' | 'escalated'
type Filter = Pick<IncidentFilter, 'severity' | 'limit'> & { readonly status: OpenStatus }

export interface OpenIncidentsRead {
  readonly total: number
  /** Critical or high. */
  readonly urgent: number
  /** The most severe first, the newest of them at the top. */
  readonly worst: readonly Incident[]
}

const STATUSES: readonly OpenStatus[] = ['open', 'escalated']
const SHOWN = 8
/** Incidents of a status that are read at once. */
const PAGE = 100
const URGENT: ReadonlySet<string> = new Set(['critical', 'high'])

/** One page of each status where that is all; else the search store's counts, and the worst by their severity. */
export async function readOpenIncidents(
  list: (filter: Filter) => Promise<IncidentPage>,
  count: (status: OpenStatus) => Promise<Pick<IncidentCounts, 'severity'>>,
): Promise<OpenIncidentsRead> {
  const pages = await Promise.all(STATUSES.map(status => list({ status, limit: PAGE })))
  if (pages.some(({ nextCursor }) => nextCursor !== undefined)) return readStorm(list, count)
  const all = pages.flatMap(({ incidents }) => incidents)
  return { total: all.length, urgent: all.filter(({ severity }) => URGENT.has(severity)).length, worst: worstOf(all) }
}

async function readStorm(list: Parameters<typeof readOpenIncidents>[0], count: Parameters<typeof readOpenIncidents>[1]) {
  const counts = (await Promise.all(STATUSES.map(count))).map(({ severity }) => severity)
  const countOf = (wanted: readonly string[]) =>
    counts.reduce((sum, bySeverity) => sum + wanted.reduce((own, severity) => own + (bySeverity[severity] ?? 0), 0), 0)
  const found: Incident[] = []
  for (const severity of SEVERITIES) {
    if (found.length >= SHOWN) break
    const pages = await Promise.all(STATUSES.map(status => list({ status, severity, limit: SHOWN })))
    found.push(...pages.flatMap(({ incidents }) => incidents))
  }
  return { total: countOf(SEVERITIES), urgent: countOf([...URGENT]), worst: worstOf(found) }
}

function worstOf(incidents: readonly Incident[]): readonly Incident[] {
  const rankOf = ({ severity }: Incident) => SEVERITIES.indexOf(severity)
  return incidents.toSorted((a, b) => rankOf(a) - rankOf(b) || b.createdAt.localeCompare(a.createdAt)).slice(0, SHOWN)
}
