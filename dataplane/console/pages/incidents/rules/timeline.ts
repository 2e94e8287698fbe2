/** The course of an incident, put together from its fields, its audit trail and its dispatches. */
import type { AuditEntry } from '../../../../domain/incidents/audit-entry.ts'
import type { Incident, IncidentSteps } from '../../../../domain/incidents/incident-fields.ts'
import type { TicketEvent } from '../../../../domain/tickets/ticket-event.ts'
import type { ShownRow } from '../../../../domain/tickets/ticket-thread.ts'

export interface TimelineEntry {
  /** ISO-8601. */
  readonly at: string
  readonly kind: AuditEntry['action'] | 'first-anomaly' | 'latest-anomaly' | 'analysed' | 'grew'
  readonly title: string
  readonly actor?: string
  readonly note?: string
  /** Dispatches that told platforms of it. */
  readonly told: readonly TimelineDispatch[]
}

export type TimelineDispatch = Pick<ShownRow, 'platform' | 'status' | 'url' | 'externalId' | 'lastError'>

const TITLES: Readonly<Record<TimelineEntry['kind'], string>> = {
  'first-anomaly': 'First anomaly',
  'latest-anomaly': 'Latest anomaly',
  created: 'Incident opened',
  acknowledged: 'Acknowledged',
  escalated: 'Escalated',
  resolved: 'Resolved',
  reopened: 'Reopened',
  commented: 'Comment',
  analysed: 'Cause found',
  grew: 'Grew',
  dispatch_failed: 'A platform was not told',
}

/** The entry whose dispatches an event's rows are; updates and comments have none of their own. */
const EVENT_OF: Readonly<Partial<Record<AuditEntry['action'], TicketEvent>>> = {
  created: 'open',
  acknowledged: 'acknowledge',
  escalated: 'escalate',
  resolved: 'resolve',
  reopened: 'reopen',
}

type Course = IncidentSteps &
  Pick<Incident, 'firstSeen' | 'lastSeen' | 'anomalyCount' | 'severity' | 'affectedServices' | 'furtherServices' | 'rootCause'>

/** The newest first. */
export function buildTimeline(incident: Course, audit: readonly AuditEntry[], rows: readonly ShownRow[]): readonly TimelineEntry[] {
  const { firstSeen, lastSeen, anomalyCount } = incident
  const take = dispatchesByTurn(rows, audit.filter(({ action }) => action === 'escalated').length)
  const changes = [...audit].sort(byTime(entry => entry.timestamp)).map(({ action, timestamp, details }): TimelineEntry => {
    const event = EVENT_OF[action]
    return {
      at: timestamp,
      kind: action,
      title: TITLES[action],
      ...readDetails(action, details),
      told: event === undefined ? [] : take(event),
    }
  })
  const anomalies: TimelineEntry[] = [{ at: firstSeen, kind: 'first-anomaly', title: TITLES['first-anomaly'], told: [] }]
  if (lastSeen !== firstSeen)
    anomalies.push({ at: lastSeen, kind: 'latest-anomaly', title: `${TITLES['latest-anomaly']} of ${anomalyCount}`, told: [] })
  return [...anomalies, ...milestones(incident), ...changes].sort(byTime(entry => entry.at)).reverse()
}

/** Steps that are no change of state. Of several of a kind the last one is known. */
function milestones({ severity, affectedServices, furtherServices = 0, rootCause, analysedAt, grewAt }: Course): readonly TimelineEntry[] {
  const [first] = rootCause?.candidates ?? []
  const services = affectedServices.length + furtherServices
  const size = `${severity} now, ${services} ${services === 1 ? 'service' : 'services'}`
  return [
    ...(analysedAt === undefined || first === undefined ? [] : [entryOf('analysed', analysedAt, `${first.service} comes first`)]),
    ...(grewAt === undefined ? [] : [entryOf('grew', grewAt, size)]),
  ]
}

const entryOf = (kind: TimelineEntry['kind'], at: string, note: string): TimelineEntry => ({
  at,
  kind,
  title: TITLES[kind],
  note,
  told: [],
})

/**
 * Rows have no times, but each platform's are in order: the nth of an event belongs to its nth entry.
 * A platform that an escalation told first has `open` in the place of that `escalate`.
 */
function dispatchesByTurn(rows: readonly ShownRow[], escalations: number): (event: TicketEvent) => readonly TimelineDispatch[] {
  const turns = new Map<string, number>()
  const byTurn = new Map<string, TimelineDispatch[]>()
  for (const { platform, event: said, status, url, externalId, lastError } of rows) {
    const missed = said === 'open' && status === 'sent' ? escalationsMissed(platform, rows, escalations) : 0
    if (missed > 0) turns.set(`${platform} escalate`, missed - 1)
    const event = missed > 0 ? 'escalate' : said
    const turn = turns.get(`${platform} ${event}`) ?? 0
    turns.set(`${platform} ${event}`, turn + 1)
    const key = `${event} ${turn}`
    const told = byTurn.get(key) ?? []
    told.push({ platform, status, url, externalId, lastError })
    byTurn.set(key, told)
  }
  const taken = new Map<TicketEvent, number>()
  return event => {
    const turn = taken.get(event) ?? 0
    taken.set(event, turn + 1)
    return byTurn.get(`${event} ${turn}`) ?? []
  }
}

/** Escalations that others were told of, before or as the platform was told first. */
function escalationsMissed(platform: string, rows: readonly ShownRow[], escalations: number): number {
  const toldOf = (isWanted: (row: ShownRow) => boolean) => rows.filter(row => row.event === 'escalate' && isWanted(row)).length
  return toldOf(row => row.platform !== platform) === 0 ? 0 : escalations - toldOf(row => row.platform === platform)
}

/** The person or program that brought the incident into its state; undefined where nobody is named. */
export function actorOfState(status: Incident['status'], audit: readonly AuditEntry[]): string | undefined {
  const changes = audit.filter(({ action }) => EVENT_OF[action] !== undefined).toSorted(byTime(entry => entry.timestamp))
  const last = changes.at(-1)
  return last?.action === status ? readDetails(last.action, last.details).actor : undefined
}

/** `acknowledged by ada: why` as its parts; other texts are the note. */
export function readDetails(action: AuditEntry['action'], details: string): Pick<TimelineEntry, 'actor' | 'note'> {
  const isStateChange = action !== 'created' && action !== 'dispatch_failed' && details.startsWith(action)
  if (!isStateChange) return details === '' ? {} : { note: details }
  const [, actor, note] = /^(?: by ([^:]*))?(?:: ([\s\S]*))?$/.exec(details.slice(action.length)) ?? [undefined, undefined, details]
  return { ...(actor && { actor }), ...(note && { note }) }
}

function byTime<T>(timeOf: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => Date.parse(timeOf(a)) - Date.parse(timeOf(b))
}
