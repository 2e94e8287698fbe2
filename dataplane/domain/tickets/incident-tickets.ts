/** Notes of the ticketing agent in an incident, and the events that follow from the incident's state (Spec: Events; Decisions 6). */
import type { Severity } from '../../contract/platforms.ts'
import type { TargetId } from '../../contract/target-id.ts'
import { listWords, shortenedList } from '../../text/listed.ts'
import type { Incident } from '../incidents/incident-fields.ts'
import type { IncidentAction } from '../incidents/incident-status.ts'
import { compareSeverity } from '../incidents/severity.ts'
import type { EscalationPlan } from './escalation.ts'
import type { StateChange } from './outbox-row.ts'
import type { OwedEvent } from './owed-event.ts'
import { type RoutingRules, routeIncident, whyNobody } from './routing.ts'
import { findSilence, type Silence } from './silence.ts'

/** Stored in the incident and never shown. One conditional write changes an incident and what is owed for the change. */
export interface IncidentTickets {
  /** When the agent took the incident up; absent: it has not seen it. */
  readonly takenAt?: string
  /** Somebody is taking it up until then. */
  readonly claimedUntil?: string
  /** Name that no two living agents have; absent where the agent has none. */
  readonly claimedBy?: string
  /** When to look at it next; absent: when something changes. */
  readonly attentionAt?: string
  /** When it was last told as open: automatic escalation counts from here. */
  readonly dispatchedAt?: string
  /** Why nobody is told: the id of a silence, `recurring`, or `age`. */
  readonly quietBy?: string
  /** Why it had no target when it was routed last, or that it never was; counts while it has none. */
  readonly untold?: string
  /** Number of its last event. */
  readonly seq?: number
  /** Events whose rows may not be written yet, the oldest first. */
  readonly owed?: readonly OwedEvent[]
  /** The state that targets were told last, and the time of the last news of growth. */
  readonly told?: ToldState
  readonly grewAt?: string
  /** When its cause was last looked for, of what, and on how much: the end of the window, ms after `firstSeen`. */
  readonly analysed?: ToldState & {
    readonly at: string
    readonly windowMs: number
    readonly hasFailed?: boolean
    readonly failures?: number
  }
  readonly explainedAt?: string
}

export interface ToldState {
  readonly severity: Severity
  readonly services: readonly string[]
}

export type TicketedIncident = Incident & { readonly ticketing?: IncidentTickets }

/** More are not kept: an incident that nobody attends to cannot grow without end. */
const MAX_OWED = 50
/** Nobody is told any more of an incident that was not told for this long after its last change: an agent that starts on an old store floods nobody. */
const MAX_UNTOLD_MS = 86_400_000
/** Why no target has heard of an incident that was never taken up. */
const OVER_BEFORE = 'it was resolved before anybody could be told'
/** New services alone are not told more often than that; a rise in severity is. */
const GROWTH_PAUSE_MS = 30_000
const MAX_NAMED = 20

/** The events of a state change; `dispatchedAt` moves with a reopening. */
export function oweChange<T extends TicketedIncident>(
  incident: T,
  change: {
    readonly action: IncidentAction
    readonly at: string
    readonly actor?: string
    readonly note?: string
    readonly fromTarget?: TargetId
    /** For `escalate` alone. */
    readonly escalation?: EscalationPlan
  },
): T {
  const { action, at, actor, note, fromTarget, escalation } = change
  const told = { at, ...(actor !== undefined && { actor }), ...(note !== undefined && { note }) }
  const isTaken = incident.ticketing?.takenAt !== undefined
  // Nobody knows of it: it is routed as a new one is, by the routing of now.
  if (action === 'reopen' && isTaken && incident.platforms.length === 0) return untaken(incident)
  const notified: Pick<OwedEvent, 'targets'> = isTaken ? { targets: incident.platforms as readonly TargetId[] } : {}
  const event: Omit<OwedEvent, 'seq'> = {
    event: action,
    at,
    change: told,
    ...notified,
    ...(fromTarget !== undefined && { except: fromTarget }),
  }
  const severity = escalation === undefined ? {} : { severity: escalation.severity }
  let next = notified.targets?.length === 0 ? incident : owe(incident, { ...event, ...severity })
  if (escalation !== undefined && escalation.fresh.length > 0) {
    next = owe(next, { event: 'open', at, targets: escalation.fresh, severity: escalation.severity, change: told })
    next = { ...next, platforms: [...new Set([...next.platforms, ...escalation.fresh])] }
  }
  const { quietBy: _q, ...loud } = next.ticketing ?? {}
  // A person who escalates wants people told, silence or not.
  if (action === 'escalate' && next.ticketing?.quietBy !== undefined) {
    const targets = incident.platforms as readonly TargetId[]
    next = owe({ ...next, ticketing: loud }, { event: 'open', at, targets, change: told })
  }
  if (action !== 'reopen') return next
  const { untold: _u, ...reopened } = next.ticketing ?? {}
  return { ...next, ticketing: { ...reopened, dispatchedAt: at } }
}

function untaken<T extends TicketedIncident>(incident: T): T {
  const { takenAt: _t, quietBy: _q, untold: _u, attentionAt: _a, ...rest } = incident.ticketing ?? {}
  return { ...incident, ticketing: rest }
}

/** Comments leave that much room to events that change something. */
const MAX_OWED_BEFORE_COMMENT = 25

/** Owes a person's words to the tickets that are out; the incident as it is where there are none, or where a flood of them waits. */
export function oweComment<T extends TicketedIncident>(incident: T, comment: StateChange): T {
  const { takenAt, owed = [] } = incident.ticketing ?? {}
  const targets = incident.platforms as readonly TargetId[]
  if (takenAt === undefined || targets.length === 0 || owed.length >= MAX_OWED_BEFORE_COMMENT) return incident
  return owe(incident, { event: 'comment', at: comment.at, targets, change: comment })
}

/** Whether an incident that was never told is too old to be told. */
export function isHistory({ updatedAt, ticketing }: TicketedIncident, nowMs: number): boolean {
  if (ticketing?.takenAt !== undefined && ticketing.quietBy !== 'age') return false
  return nowMs - Date.parse(updatedAt) > MAX_UNTOLD_MS
}

/**
 * Whether an incident owes events and nobody will look at it, as earlier versions left it when the agent ended before their rows were written. One
 * whose opening is owed for more than a day is history.
 */
export function isStranded({ updatedAt, ticketing }: Pick<TicketedIncident, 'updatedAt' | 'ticketing'>, nowMs: number): boolean {
  const { owed = [], attentionAt } = ticketing ?? {}
  if (owed.length === 0 || attentionAt !== undefined) return false
  return nowMs - Date.parse(updatedAt) <= MAX_UNTOLD_MS || !owed.some(({ event }) => event === 'open')
}

export interface AttendFacts {
  readonly nowMs: number
  readonly rules: RoutingRules
  readonly silences: readonly Silence[]
  /** Recurring incidents are to be quiet. */
  readonly quietRecurring: boolean
}

/** The incident with all that is to be told about it now, as events that are owed. Those owed before stay, in their order. */
export function attend<T extends TicketedIncident>(incident: T, facts: AttendFacts): T {
  const now = new Date(facts.nowMs).toISOString()
  const { attentionAt: _a, claimedUntil: _c, claimedBy: _b, ...ticketing } = incident.ticketing ?? {}
  const calm: T = { ...incident, ticketing }
  const quiet = quietReason(incident, facts)
  const next =
    ticketing.takenAt === undefined
      ? takeUp(calm, facts, quiet, now)
      : incident.status === 'resolved'
        ? calm
        : ticketing.quietBy !== undefined
          ? stayQuiet(calm, facts, quiet, now)
          : tellGrowth(calm, facts, quiet !== undefined, now)
  const quietUntil = next.ticketing?.quietBy === undefined ? undefined : quiet?.until
  if (quietUntil !== undefined) return noteDown(next, { attentionAt: quietUntil })
  // The agent that attended to it before may have ended, or the store failed, before the rows of these events were written: that may happen again.
  const isOwing = (next.ticketing?.owed ?? []).length > 0 && next.ticketing?.attentionAt === undefined
  return isOwing ? noteDown(next, { attentionAt: now }) : next
}

/** The incident that a silence holds back which began when it was taken up already. */
export function heldBack<T extends TicketedIncident>(incident: T, { id, to }: Pick<Silence, 'id' | 'to'>): T {
  // Nobody is told of it, and nobody can be late to take care of it.
  const { attentionAt, dispatchedAt: _d, ...ticketing } = incident.ticketing ?? {}
  const at = attentionAt !== undefined && attentionAt < to ? attentionAt : to
  return noteDown({ ...incident, ticketing }, { quietBy: id, attentionAt: at })
}

/** Owed events whose rows are written leave. */
export function settleOwed<T extends TicketedIncident>(incident: T, lastSeq: number): T {
  const left = incident.ticketing?.owed?.filter(({ seq }) => seq > lastSeq) ?? []
  const { owed: _o, ...rest } = incident.ticketing ?? {}
  return { ...incident, ticketing: left.length === 0 ? rest : { ...rest, owed: left } }
}

/** A time in the past of any clock. The time of a change may lie ahead of a clock that was set back. */
const AT_ONCE = new Date(0).toISOString()

/** Adds an event for the rows of `targets`. */
export function owe<T extends TicketedIncident>(incident: T, event: Omit<OwedEvent, 'seq'>): T {
  const seq = (incident.ticketing?.seq ?? 0) + 1
  const owed = [...(incident.ticketing?.owed ?? []), { ...event, seq }].slice(-MAX_OWED)
  return noteDown(incident, { seq, owed, attentionAt: AT_ONCE })
}

/** News since the targets were last told, one sentence each. */
export function describeGrowth(
  { severity, affectedServices }: Pick<Incident, 'severity' | 'affectedServices'>,
  told: ToldState,
): readonly string[] {
  const added = affectedServices.filter(service => !told.services.includes(service))
  return [
    ...(compareSeverity(severity, told.severity) > 0 ? [`Severity rose from ${told.severity} to ${severity}.`] : []),
    ...(added.length === 0 ? [] : [`${listWords(shortenedList(added, MAX_NAMED))} ${added.length === 1 ? 'is' : 'are'} affected, too.`]),
  ]
}

function takeUp<T extends TicketedIncident>(incident: T, facts: AttendFacts, quiet: Quiet | undefined, now: string): T {
  const earlier = incident.ticketing?.owed ?? []
  const { owed: _o, ...rest } = incident.ticketing ?? {}
  // A person who escalates wants people told, silence or not.
  const isQuiet = quiet !== undefined && !earlier.some(({ event }) => event === 'escalate')
  // It is taken up when somebody opens it again.
  if (incident.status === 'resolved') return { ...incident, ticketing: { ...rest, untold: OVER_BEFORE } }
  const taken: T = { ...incident, ticketing: { ...rest, takenAt: now, told: stateOf(incident) } }
  const targets = routeIncident(facts.rules, incident)
  const platforms = [...new Set([...incident.platforms, ...targets])]
  const opening = { event: 'open' as const, at: now, targets, ...(isQuiet && { quiet: quiet.reason }) }
  let next: T = withUntold({ ...taken, platforms }, facts)
  if (targets.length > 0) next = owe(next, opening)
  if (isQuiet) return noteDown(next, { quietBy: quiet.by })
  for (const { seq: _s, ...event } of earlier) {
    const told = event.targets ?? targets
    if (told.length > 0) next = owe(next, { ...event, targets: told })
  }
  return targets.length === 0 ? next : noteDown(next, { dispatchedAt: now })
}

/** A quiet incident becomes loud when nothing holds it back any more and nobody has taken care of it. */
function stayQuiet<T extends TicketedIncident>(incident: T, facts: AttendFacts, quiet: Quiet | undefined, now: string): T {
  if (incident.status !== 'open' && incident.status !== 'escalated') return incident
  const targets = incident.platforms as readonly TargetId[]
  if (quiet !== undefined) {
    const next = noteDown(incident, { quietBy: quiet.by })
    if (incident.ticketing?.quietBy === quiet.by || targets.length === 0) return next
    return owe(next, { event: 'open', at: now, targets, quiet: quiet.reason })
  }
  const { quietBy: _q, ...loud } = incident.ticketing ?? {}
  if (targets.length === 0) return takeUp({ ...incident, ticketing: loud }, facts, undefined, now)
  const told = owe({ ...incident, ticketing: loud }, { event: 'open', at: now, targets })
  return noteDown(told, { told: stateOf(incident), dispatchedAt: now })
}

/** A rise in severity or a new affected service tells again; mere counts do not. A more severe incident may have more targets. */
function tellGrowth<T extends TicketedIncident>(incident: T, facts: AttendFacts, isQuiet: boolean, now: string): T {
  const told = incident.ticketing?.told ?? stateOf(incident)
  const news = describeGrowth(incident, told)
  if (news.length === 0 || isQuiet) return incident
  const { grewAt } = incident.ticketing ?? {}
  const tooSoonUntil = grewAt === undefined ? undefined : new Date(Date.parse(grewAt) + GROWTH_PAUSE_MS).toISOString()
  if (tooSoonUntil !== undefined && now >= grewAt! && now < tooSoonUntil && compareSeverity(incident.severity, told.severity) <= 0)
    return noteDown(incident, { attentionAt: tooSoonUntil })
  const before = incident.platforms as readonly TargetId[]
  const added = routeIncident(facts.rules, incident).filter(id => !before.includes(id))
  let next: T = noteDown(incident, { told: stateOf(incident), grewAt: now })
  if (before.length > 0) next = owe(next, { event: 'update', at: now, targets: before, news })
  if (added.length === 0) return withUntold(next, facts)
  next = owe({ ...next, platforms: [...before, ...added] }, { event: 'open', at: now, targets: added })
  return next.ticketing?.dispatchedAt === undefined ? noteDown(next, { dispatchedAt: now }) : next
}

function withUntold<T extends TicketedIncident>(incident: T, { rules }: AttendFacts): T {
  const { untold: _u, ...ticketing } = incident.ticketing ?? {}
  const untold = incident.platforms.length === 0 ? whyNobody(rules, incident) : undefined
  return { ...incident, ticketing: { ...ticketing, ...(untold !== undefined && { untold }) } }
}

interface Quiet {
  readonly by: string
  readonly reason: string
  /** Absent: until the incident changes. */
  readonly until?: string
}

function quietReason(incident: TicketedIncident, { silences, nowMs, quietRecurring }: AttendFacts): Quiet | undefined {
  const silence = findSilence(silences, incident, nowMs)
  if (silence !== undefined) return { by: silence.id, reason: whySilent(silence), until: silence.to }
  if (quietRecurring && incident.recurring === true) return { by: 'recurring', reason: 'recurring: nothing new for this service' }
  if (isHistory(incident, nowMs)) return { by: 'age', reason: `too old to be told: it last changed ${incident.updatedAt}` }
  return undefined
}

/** The reason of a silence, as it stands in rows. */
export const whySilent = ({ reason }: Pick<Silence, 'reason'>): string => `silenced: ${reason}`

function stateOf({ severity, affectedServices }: Incident): ToldState {
  return { severity, services: affectedServices }
}

function noteDown<T extends TicketedIncident>(incident: T, noted: Partial<IncidentTickets>): T {
  return { ...incident, ticketing: { ...incident.ticketing, ...noted } }
}
