/**
 * A long list of incidents in pages, in its order from the first page on. The API answers one status, and of it one severity or all, the newest first:
 * a list by severity that is longer than a page is read severity by severity.
 */
import { SEVERITIES, type Severity } from '../../../../contract/platforms.ts'
import { INCIDENT_STATUSES, type IncidentStatus } from '../../../../domain/incidents/incident-status.ts'
import { compareSeverity } from '../../../../domain/incidents/severity.ts'
import { type IncidentFilters, type ListOrder, type ListQuery, PAGE_SIZE, statusesOf } from './incident-filters.ts'

export interface Listed {
  readonly id: string
  readonly createdAt: string
  readonly severity: Severity
  readonly status: IncidentStatus
}

/** Incidents that the API answers in the order of the list. */
type Part = Omit<ListQuery, 'cursor'>

/** The unread end of a part. */
interface Rest extends ListQuery {
  /** Its incidents come after this place of the list. */
  readonly after: Listed
}

/** The incidents of some answers, in no order. */
export interface ListPage<T> {
  readonly incidents: readonly T[]
  /** The parts that have more; undefined: this is the last page. */
  readonly next: readonly Rest[] | undefined
}

type ReadIncidents<T> = (query: ListQuery) => Promise<{ readonly incidents: readonly T[]; readonly nextCursor: string | undefined }>

/** The page that begins with `rest`, or the first: so many answers that the list grows by `PAGE_SIZE`, or to its end. */
export async function readPage<T extends Listed>(
  read: ReadIncidents<T>,
  filters: IncidentFilters,
  rest: readonly Rest[] | undefined,
): Promise<ListPage<T>> {
  const { order } = filters
  let { incidents, open } = rest === undefined ? await readStatuses(read, filters) : { incidents: [], open: rest }
  while (open.length > 0 && inOrder(incidents, open, order).length < PAGE_SIZE) {
    const asked = nextOf(open, order)
    const answers = await readEach(read, asked)
    incidents = [...incidents, ...answers.flatMap(answer => answer.incidents)]
    open = [...open.filter(each => !asked.includes(each)), ...answers.flatMap(({ rest: more }) => more ?? [])]
  }
  return { incidents, next: open.length === 0 ? undefined : open }
}

/** One answer for each status. Where that is not all of it, and the list is one by severity, the status is read by severity instead. */
async function readStatuses<T extends Listed>(read: ReadIncidents<T>, { status, severity, order }: IncidentFilters) {
  const statuses = status === 'all' && order === 'severity' ? INCIDENT_STATUSES : statusesOf(status)
  const answers = await readEach(
    read,
    statuses.map(each => unread({ status: each, severity })),
  )
  const isSplit = ({ rest }: (typeof answers)[number]) => rest !== undefined && order === 'severity' && severity === undefined
  return {
    incidents: answers.flatMap(answer => (isSplit(answer) ? [] : answer.incidents)),
    open: answers.flatMap(answer => {
      if (answer.rest === undefined) return []
      return isSplit(answer) ? SEVERITIES.map(each => unread({ status: answer.rest!.status, severity: each })) : [answer.rest]
    }),
  }
}

function readEach<T extends Listed>(read: ReadIncidents<T>, asked: readonly Rest[]) {
  return Promise.all(
    asked.map(async ({ status, severity, cursor, after }) => {
      const { incidents, nextCursor } = await read({ status, severity, cursor })
      const last = incidents.at(-1)
      const rest: Rest = { status, severity, cursor: nextCursor, after: last === undefined ? after : placeIn({ status, severity }, last) }
      return { incidents, rest: nextCursor === undefined ? undefined : rest }
    }),
  )
}

/** Later than any time of an incident. */
const LATEST = '\uffff'

function unread(part: Part): Rest {
  return { ...part, cursor: undefined, after: placeIn(part, { id: '', createdAt: LATEST, severity: 'critical', status: 'open' }) }
}

function placeIn({ status, severity }: Part, { id, createdAt, ...own }: Listed): Listed {
  return { id, createdAt, status: status ?? own.status, severity: severity ?? own.severity }
}

/** The parts of which the list goes on. */
function nextOf(open: readonly Rest[], order: ListOrder): readonly Rest[] {
  if (order === 'newest') return open
  const first = firstOf(open, order)!
  return open.filter(({ after }) => compareUrgency(after, first) === 0)
}

/** The list so far. An incident that changed between two answers is in both: the later answer is right. */
export function listOf<T extends Listed>(pages: readonly ListPage<T>[], order: ListOrder): readonly T[] {
  const byId = new Map(pages.flatMap(({ incidents }) => incidents.map(incident => [incident.id, incident] as const)))
  return inOrder([...byId.values()], pages.at(-1)?.next ?? [], order)
}

/** Nothing is shown that would stand below what is still to be read. */
function inOrder<T extends Listed>(incidents: readonly T[], open: readonly Rest[], order: ListOrder): readonly T[] {
  const compare = ORDERS[order]
  const frontier = firstOf(open, order)
  return incidents.filter(incident => frontier === undefined || compare(incident, frontier) <= 0).sort(compare)
}

function firstOf(open: readonly Rest[], order: ListOrder): Listed | undefined {
  return open.map(({ after }) => after).sort(ORDERS[order])[0]
}

const STATUS_RANK: Readonly<Record<IncidentStatus, number>> = { escalated: 0, open: 0, acknowledged: 1, resolved: 2 }

/** Incidents that nobody has acknowledged come first, the most severe of them at the top. */
function compareUrgency(a: Listed, b: Listed): number {
  return STATUS_RANK[a.status] - STATUS_RANK[b.status] || compareSeverity(b.severity, a.severity)
}

function compareTime(a: Listed, b: Listed): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1
  return a.id === b.id ? 0 : a.id < b.id ? 1 : -1
}

const ORDERS: Readonly<Record<ListOrder, (a: Listed, b: Listed) => number>> = {
  severity: (a, b) => compareUrgency(a, b) || compareTime(a, b),
  newest: compareTime,
}
