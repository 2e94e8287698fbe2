/** All that one target is told about one incident, in order: the outbox rows of both, and the ticket that came of them (Decisions 6). */
import type { Severity } from '../../contract/platforms.ts'
import type { TargetId } from '../../contract/target-id.ts'
import type { IncidentDispatch } from '../incidents/incident-fields.ts'
import type { IncidentStatus } from '../incidents/incident-status.ts'
import { coalesce, isFresh, isSpoken } from './coalescing.ts'
import { isUnsettled, type OutboxRow, rowId, ticketKey } from './outbox-row.ts'
import type { OwedEvent } from './owed-event.ts'
import { STATUS_AFTER } from './ticket-event.ts'
import type { ExternalTicket } from './ticket-outcome.ts'

export interface TicketThread {
  readonly tenantId: string
  readonly incidentId: string
  readonly platform: TargetId
  /** `<tenant>/<target>`: threads of one lane share the target's limits. */
  readonly lane: string
  readonly ticketKey: string
  /** Severity that its last event is told with: of a lane's threads the most severe go first. Absent in threads from before 2026-11-29. */
  readonly severity?: Severity
  /** Whether any row is unsettled. */
  readonly state: 'pending' | 'settled'
  /** When to look at it next, and when its first waiting row is given up; absent while nothing waits. */
  readonly dueAt?: string
  readonly deadlineAt?: string
  /** Since when its first waiting row waits. */
  readonly pendingSince?: string
  /** When somebody last asked for another try: the target is tried then even if it rests. */
  readonly askedAt?: string
  /** Until when its target rests, for agents that do not send to it; noted with the first row that waits untried. */
  readonly restsUntil?: string
  /** Until when its target asked for no requests, in answer to the last attempt: that holds for all agents, and after a restart. */
  readonly limitedUntil?: string
  /** The sender just now; `dueAt` is not before the end of the lease. */
  readonly lease?: SenderLease
  /** In the order in which they are told: the oldest first, but what was said while there was no ticket behind the row that makes it. */
  readonly rows: readonly OutboxRow[]
  /** Number of the last event that was taken in. */
  readonly lastSeq: number
  /** The ticket after the newest delivered event. */
  readonly ticket?: ExternalTicket
  readonly externalId?: string
  /** State of the ticket on the platform by what was delivered; absent without a ticket. */
  readonly ticketStatus?: IncidentStatus
  readonly createdAt: string
  readonly updatedAt: string
}

export interface SenderLease {
  readonly by: string
  readonly until: string
  /** The attempt has only looked for what may be there, and notes before its first write that it writes: cut short, it has left nothing behind. */
  readonly isLooking?: true
}

/** How long a row is tried. */
export const ROW_LIFE_MS = 86_400_000
/** Rows that are kept; beyond it the oldest that are settled leave, then the oldest that only wait. */
const MAX_ROWS = 50
const NO_TICKET = 'there is no ticket to tell it to'

export function createThread(tenant: string, incidentId: string, target: TargetId, now: string): TicketThread {
  return {
    tenantId: tenant,
    incidentId,
    platform: target,
    lane: `${tenant}/${target}`,
    ticketKey: ticketKey(tenant, incidentId, target),
    state: 'settled',
    rows: [],
    lastSeq: 0,
    createdAt: now,
    updatedAt: now,
  }
}

/** Takes events in as rows, each once however often it comes. The same thread when none is new to it. */
export function addEvents(thread: TicketThread, events: readonly OwedEvent[], now: string): TicketThread {
  const fresh = events.filter(({ seq }) => seq > thread.lastSeq)
  if (fresh.length === 0) return thread
  const next = fresh.reduce((before, event) => takeIn(before, event, now), thread)
  return dropUnopened(arrange({ ...next, lastSeq: fresh.at(-1)!.seq }, now), now)
}

function takeIn(thread: TicketThread, event: OwedEvent, now: string): TicketThread {
  const row = toRow(thread, event, now)
  if (event.except !== thread.platform) {
    const isFirst = thread.ticketStatus === undefined && isOpening(row)
    return { ...thread, rows: isFirst ? withWordsBehind(thread.rows, row, now) : [...thread.rows, row] }
  }
  // Rows that wait would come after the resolution: on some platforms they open the ticket again.
  const isOver = event.event === 'resolve'
  const before = thread.rows.map(each =>
    isOver && isUnsettled(each) && isFresh(each) ? suppress(each, 'newer', 'it was resolved there') : each,
  )
  const rows = [...before, suppress(row, 'there', 'it was done there')]
  const ticketStatus = thread.ticketStatus && (STATUS_AFTER[event.event] ?? thread.ticketStatus)
  return { ...thread, rows, ...(ticketStatus !== undefined && { ticketStatus }) }
}

/** The rows with one that makes the ticket, and behind it what people said while there was none. */
function withWordsBehind(rows: readonly OutboxRow[], opening: OutboxRow, now: string): readonly OutboxRow[] {
  const isUntold = (row: OutboxRow) => isSpoken(row) && (row.suppressedBy === 'unopened' || row.suppressedBy === 'newer')
  const words = rows.filter(isUntold).map(({ suppressedBy: _s, lastError: _e, ...row }): OutboxRow => {
    return { ...row, status: 'pending', nextAttemptAt: now, deadlineAt: opening.deadlineAt }
  })
  return [...rows.filter(row => !isUntold(row)), opening, ...words]
}

/** Without a ticket, and without one on its way, further rows have no place to go. */
export function dropUnopened(thread: TicketThread, now: string): TicketThread {
  if (thread.ticketStatus !== undefined || thread.rows.some(isOpening)) return thread
  if (!thread.rows.some(isUnsettled)) return thread
  const rows = thread.rows.map(row => (isUnsettled(row) ? suppress(row, 'unopened', NO_TICKET) : row))
  return arrange({ ...thread, rows }, now)
}

/** Rows as they should be after any change: coalesced, bounded, and the thread's own fields in step with them. */
export function arrange(thread: TicketThread, now: string): TicketThread {
  const { dueAt: _d, deadlineAt: _l, pendingSince: _p, ...rest } = thread
  const rows = bound(coalesce(thread.rows, thread.ticketStatus))
  const waiting = rows.filter(isUnsettled)
  const [head] = waiting
  if (head === undefined) {
    const { lease: _lease, ...settled } = rest
    return { ...settled, rows, state: 'settled', updatedAt: now }
  }
  const dueAt = rest.lease === undefined || rest.lease.until < head.nextAttemptAt ? head.nextAttemptAt : rest.lease.until
  const deadlineAt = waiting.map(row => row.deadlineAt).sort()[0]!
  return { ...rest, rows, state: 'pending', dueAt, deadlineAt, pendingSince: head.createdAt, updatedAt: now }
}

/** The row to send next: rows of a thread go out one after the other. */
export function headOf({ rows }: Pick<TicketThread, 'rows'>): OutboxRow | undefined {
  return rows.find(isUnsettled)
}

function toRow({ tenantId, incidentId, platform, ticketStatus, rows: before }: TicketThread, owed: OwedEvent, now: string): OutboxRow {
  const { seq, event, at, severity, change, news = [], quiet } = owed
  const row: OutboxRow = {
    id: rowId(tenantId, incidentId, platform, seq),
    seq,
    event,
    status: 'pending',
    createdAt: at,
    deadlineAt: new Date(Date.parse(now) + ROW_LIFE_MS).toISOString(),
    attempts: 0,
    nextAttemptAt: now,
    ...(severity !== undefined && { severity }),
    ...(change !== undefined && { change }),
    news,
  }
  if (quiet !== undefined) return suppress(row, 'quiet', quiet)
  const hasTicket = ticketStatus !== undefined || before.some(isOpening)
  // Rows sent long ago are gone, and the ticket may be there still: adapters look for it.
  if (event === 'reopen' && (before.length === 0 || wasOverUntold(before))) return row
  if (event === 'open') return hasTicket ? suppress(row, 'newer', 'there is a ticket already') : row
  return hasTicket ? row : suppress(row, 'unopened', NO_TICKET)
}

/** Whether the newest row that would have made a ticket was not sent, as the incident was resolved before. */
function wasOverUntold(rows: readonly OutboxRow[]): boolean {
  return rows.findLast(({ event }) => event === 'open' || event === 'reopen')?.suppressedBy === 'newer'
}

/** A row that makes a ticket; `reopen` does where what was told before is forgotten. */
export function isOpening(row: OutboxRow): boolean {
  return isUnsettled(row) && (row.event === 'open' || row.event === 'reopen')
}

export function suppress(row: OutboxRow, suppressedBy: NonNullable<OutboxRow['suppressedBy']>, reason: string): OutboxRow {
  const { isUnderWay: _u, ...rest } = row
  return { ...rest, status: 'suppressed', suppressedBy, lastError: reason }
}

function bound(rows: readonly OutboxRow[]): readonly OutboxRow[] {
  let tooMany = rows.length - MAX_ROWS
  if (tooMany <= 0) return rows
  const kept = rows.filter(row => isUnsettled(row) || tooMany-- <= 0)
  if (kept.length <= MAX_ROWS) return kept
  // As many wait: the newest say what counts. What opens the ticket and what may have arrived stays.
  let overdue = kept.length - MAX_ROWS
  return kept.filter(({ event, mayBeThere, isUnderWay }) => event === 'open' || mayBeThere || isUnderWay || overdue-- <= 0)
}

/** Rows that newer ones replace, that were done at the target, that the platform has no place for, or that had no ticket to go to, do not count. A row that its target refused holds up all that came after it. */
export function newestDispatch(rows: readonly OutboxRow[]): OutboxRow | undefined {
  const head = headOf({ rows })
  if (head?.status === 'refused') return head
  return rows.findLast(({ suppressedBy }) => !NO_DISPATCH.has(suppressedBy)) ?? rows.at(-1)
}

const NO_DISPATCH: ReadonlySet<OutboxRow['suppressedBy']> = new Set(['newer', 'there', 'unopened', 'leftOut'])

/** How the newest dispatch to the target stands. */
export function describeDispatch({ rows, ticket }: Pick<TicketThread, 'rows' | 'ticket'>): IncidentDispatch | undefined {
  const newest = newestDispatch(rows)
  if (newest === undefined) return undefined
  const { attempts } = newest
  const lastError = shownError(newest)
  return { status: shownStatus(newest), ...shownTicket(ticket), attempts, ...(lastError !== undefined && { lastError }) }
}

/** A row as callers see it; null where there is nothing to say. */
export interface ShownRow {
  readonly incidentId: string
  readonly platform: TargetId
  readonly event: OutboxRow['event']
  readonly status: IncidentDispatch['status']
  readonly attempts: number
  /** The earliest time at which it may be tried. Null once nothing more is tried. */
  readonly nextAttemptAt: string | null
  readonly lastError: string | null
  readonly externalId: string | null
  readonly url: string | null
}

/** A row of a change that was made at the target is no dispatch. `notBefore`: the present, or the end of the target's rest; nothing is tried before. */
export function showRows(
  { incidentId, platform, rows: all, ticket, restsUntil = '' }: TicketThread,
  notBefore: string,
): readonly ShownRow[] {
  const rows = all.filter(({ suppressedBy }) => suppressedBy !== 'there')
  let nextAttemptAt = restsUntil > notBefore ? restsUntil : notBefore
  return rows.map(row => {
    // A row waits for those before it, too.
    if (isUnsettled(row) && row.nextAttemptAt > nextAttemptAt) nextAttemptAt = row.nextAttemptAt
    return {
      incidentId,
      platform,
      event: row.event,
      status: shownStatus(row),
      attempts: row.attempts,
      nextAttemptAt: isUnsettled(row) ? nextAttemptAt : null,
      // A deviation from the request is worth reading, too.
      lastError: shownError(row) ?? row.note ?? null,
      externalId: ticket?.externalId ?? null,
      url: ticket?.url ?? null,
    }
  })
}

function shownStatus({ status }: OutboxRow): IncidentDispatch['status'] {
  return status === 'refused' ? 'failed' : status
}

/** `failed` alone would say that nothing more is tried. */
function shownError({ status, lastError, refusedSettings }: OutboxRow): string | undefined {
  if (status !== 'refused' || lastError === undefined) return lastError
  const next =
    refusedSettings === undefined ? 'tried each minute until it is mended' : 'tried again once its settings change, or somebody asks for it'
  return `${lastError}; needs attention: ${next}`
}

function shownTicket(ticket: ExternalTicket | undefined) {
  if (ticket === undefined) return {}
  return { externalId: ticket.externalId, ...(ticket.url !== undefined && { url: ticket.url }) }
}
