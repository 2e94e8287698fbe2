/** The state of a row after an attempt: sent, tried again later, given up (Decisions 6). */
import { type BackOffConfig, backOffMs } from '../../limits/back-off.ts'
import { shortened } from '../../text/shortened.ts'
import { isoTime } from '../time/iso-time.ts'
import { isFresh } from './coalescing.ts'
import { isUnsettled, type OutboxRow, withoutUnreached } from './outbox-row.ts'
import { outdates, STATUS_AFTER } from './ticket-event.ts'
import type { ExternalTicket, TicketOutcome } from './ticket-outcome.ts'
import {
  arrange,
  dropUnopened,
  headOf,
  newestDispatch,
  ROW_LIFE_MS,
  type SenderLease,
  suppress,
  type TicketThread,
} from './ticket-thread.ts'

/** How an attempt ended. `interrupted`: the program stopped before it was known. */
export type AttemptEnd =
  /** `restsUntilMs`: the target rests, and takes nothing before. `settings`: names those that the attempt was made with. */
  | (TicketOutcome & { readonly restsUntilMs?: number; readonly settings?: string })
  | { readonly kind: 'interrupted'; readonly wasSent: boolean }
  /** The target was removed or switched off. */
  | { readonly kind: 'gone'; readonly reason: string }

/** Pauses between the attempts of a row whose target does not rest. */
const RETRY: BackOffConfig = { firstMs: 2_000, maxMs: 60_000 }
/** From an attempt with settings that count no longer to one with those that do: every agent has them by then. */
const SOON_MS = 1_500
/** How long a target that refuses everything is left alone: once it is mended, tickets go out within this time. */
export const REFUSED_PAUSE_MS = 60_000
/** The longest pause that a platform may ask for. */
const MAX_ASKED_MS = 3_600_000
const MAX_REASON_LENGTH = 500

/**
 * Notes, before anything is sent, that an attempt of the first row begins. One that was under way before may have arrived. Where anything may have arrived
 * the attempt looks first, until `noteWriting`.
 */
export function beginAttempt(thread: TicketThread, { by, until }: Omit<SenderLease, 'isLooking'>, now: string): TicketThread {
  const wasLost = headOf(thread)?.isUnderWay === true && !hasOnlyLooked(thread)
  const isLooking = wasLost || headOf(thread)?.mayBeThere === true
  const lease: SenderLease = { by, until, ...(isLooking && { isLooking }) }
  const { limitedUntil: _l, ...unlimited } = withoutRest(thread)
  return changeHead({ ...unlimited, lease }, now, row => {
    const { status: _s, refusedSettings: _r, ...rest } = row
    return { ...rest, status: 'pending', attempts: row.attempts + 1, isUnderWay: true, ...(wasLost && lost(now)) }
  })
}

/** Notes, before the first write of an attempt that looked, that it may arrive from now on; undefined where the attempt is no longer the thread's. */
export function noteWriting(thread: TicketThread, by: string): TicketThread | undefined {
  if (thread.lease?.by !== by) return undefined
  const { isLooking: _l, ...lease } = thread.lease
  return { ...thread, lease }
}

/** Whether the attempt that is under way, or was when its sender died, has written nothing. */
function hasOnlyLooked({ lease }: TicketThread): boolean {
  return lease?.isLooking === true
}

/** `random` in [0, 1). */
export function endAttempt(thread: TicketThread, end: AttemptEnd, nowMs: number, random: () => number = Math.random): TicketThread {
  const now = new Date(nowMs).toISOString()
  const { lease: _lease, ...free } = thread
  if (end.kind !== 'delivered')
    return dropUnopened(
      changeHead({ ...free, ...limitOf(end, nowMs) }, now, row =>
        afterFailure(row, hasOnlyLooked(thread) ? withoutLoss(end) : end, nowMs, random),
      ),
      now,
    )
  const ticketStatus = statusAfter(thread)
  const ticket = mergeTicket(thread.ticket, end.ticket)
  const told: TicketThread = {
    ...free,
    ...(ticketStatus !== undefined && { ticketStatus }),
    ...(ticket !== undefined && { ticket, externalId: ticket.externalId }),
  }
  return changeHead(told, now, row => afterDelivery(row, end, nowMs, random))
}

function afterDelivery(row: OutboxRow, end: Extract<AttemptEnd, { kind: 'delivered' }>, nowMs: number, random: () => number): OutboxRow {
  const { isUnderWay: _u, mayBeThere: _m, unansweredAt: _a, lookedSince: _l, lastError: _e, unreached: _r, ...rest } = row
  if (end.isLeftOut === true) return suppress(rest, 'leftOut', cut(end.note ?? 'left out'))
  const note = end.note === undefined ? {} : { note: cut(end.note) }
  const sent: OutboxRow = { ...rest, status: 'sent', sentAt: isoTime(nowMs), ...note }
  if (end.unreached === undefined || end.unreached.length === 0 || nowMs >= Date.parse(row.deadlineAt)) return sent
  const waiting: OutboxRow = {
    ...sent,
    status: 'pending',
    unreached: end.unreached,
    ...(end.note !== undefined && { lastError: cut(end.note) }),
  }
  return tryLater(waiting, nowMs, backOffMs(RETRY, row.attempts, random))
}

/** The ticket's status once its first row is delivered: what was done at the target since counts more. */
function statusAfter({ rows, ticketStatus }: TicketThread): TicketThread['ticketStatus'] {
  const head = headOf({ rows })
  if (head === undefined) return ticketStatus
  const there = rows.slice(rows.indexOf(head)).findLast(({ suppressedBy }) => suppressedBy === 'there')
  return STATUS_AFTER[(there ?? head).event] ?? ticketStatus
}

/** The first row opens a ticket by itself, and nothing of it can have arrived: a silence that began since holds it back. */
export function mayHoldBack(thread: TicketThread): boolean {
  const head = headOf(thread)
  return head?.event === 'open' && head.change === undefined && thread.ticketStatus === undefined && isFresh(head)
}

/** The thread with its first row held back, and what came behind it. */
export function holdBack(thread: TicketThread, reason: string, now: string): TicketThread {
  return dropUnopened(
    changeHead(thread, now, row => suppress(row, 'quiet', cut(reason))),
    now,
  )
}

/** The first row was due, and its target has still the settings that it refused for good: it is not asked again. */
export function keepRefused(thread: TicketThread, nowMs: number): TicketThread {
  return changeHead(thread, new Date(nowMs).toISOString(), row => tryLater(row, nowMs, REFUSED_PAUSE_MS))
}

/** Gives up the rows whose time is over; the same thread when there are none. */
export function expireRows(thread: TicketThread, nowMs: number): TicketThread {
  const now = new Date(nowMs).toISOString()
  const isOver = (row: OutboxRow) => isUnsettled(row) && Date.parse(row.deadlineAt) <= nowMs
  if (!thread.rows.some(isOver)) return thread
  const rows = thread.rows.map(row => (isOver(row) ? giveUp(row) : row))
  return dropUnopened(arrange({ ...thread, rows }, now), now)
}

/** Why and until when rows wait that were not tried yet, for readers; the same thread when that is said already. */
export function explainWait(thread: TicketThread, reason: string, now: string, restsUntil: string): TicketThread {
  const head = headOf(thread)
  if (head === undefined || head.lastError !== undefined) return thread
  return changeHead({ ...thread, restsUntil }, now, row => ({ ...row, lastError: cut(`waits: ${reason}`) }))
}

/**
 * Tries what failed, or had no target, once more, at once, and what waits for its next attempt without waiting for it; undefined where `whyNoRetry` says
 * why. A failed row that later ones have overtaken stays failed: the ticket would go back to a state that is over.
 */
export function retryThread(thread: TicketThread, nowMs: number): TicketThread | undefined {
  const now = new Date(nowMs).toISOString()
  // Whose end is written to the first row that waits: no other may come before it.
  if (thread.rows.some(({ isUnderWay }) => isUnderWay)) return undefined
  const missed = thread.rows.filter(row => isMissed(row) && overtakenBy(thread.rows, row) === undefined)
  const head = headOf(thread)
  if (missed.length === 0 && (head === undefined || !isHeldUp(head))) return undefined
  const deadlineAt = new Date(nowMs + ROW_LIFE_MS).toISOString()
  const firstMissed = thread.rows.findIndex(row => missed.includes(row))
  const rows = thread.rows.map((row, at): OutboxRow => {
    if (row === head && isHeldUp(row)) return { ...row, nextAttemptAt: now }
    if (!missed.includes(row) && !(row.suppressedBy === 'unopened' && missed.length > 0 && at > firstMissed)) return row
    const { suppressedBy: _s, refusedSettings: _r, ...rest } = row
    return { ...rest, status: 'pending', nextAttemptAt: now, deadlineAt }
  })
  return arrange({ ...withoutRest(thread), rows, askedAt: now }, now)
}

/** The thread with its first waiting row due at once, also where its target rests; undefined where nothing waits, or an attempt is under way. */
export function hastenThread(thread: TicketThread, nowMs: number): TicketThread | undefined {
  const now = new Date(nowMs).toISOString()
  const head = headOf(thread)
  if (head === undefined || head.isUnderWay === true) return undefined
  return { ...changeHead(withoutRest(thread), now, ({ refusedSettings: _r, ...row }) => ({ ...row, nextAttemptAt: now })), askedAt: now }
}

/** Why nothing of a thread can be tried again, and what to do, for people. */
export function whyNoRetry({ rows }: TicketThread): string {
  const underWay = rows.find(({ isUnderWay }) => isUnderWay)
  if (underWay !== undefined) return `${underWay.event} is being tried just now: ask again if it fails`
  const head = headOf({ rows })
  if (head !== undefined) return `${head.event} was not tried yet, and is tried without being asked for`
  const missed = rows.findLast(isMissed)
  const later = missed && overtakenBy(rows, missed)
  if (later !== undefined)
    return `${missed!.event} failed, and ${later.event} came after it: telling it now would undo that. Change the ticket on the platform if it lacks something`
  const newest = newestDispatch(rows)
  if (newest?.status !== 'suppressed') return 'all of it is sent'
  if (newest.suppressedBy !== 'quiet') return `${newest.event} is not told: ${newest.lastError}`
  return `${newest.event} is held back (${newest.lastError}): it is told when that ends, or when somebody escalates the incident`
}

/** The later event that says more of the ticket's state than a row does, and has reached the ticket. */
function overtakenBy(rows: readonly OutboxRow[], row: OutboxRow): OutboxRow | undefined {
  const later = rows.slice(rows.indexOf(row) + 1)
  return later.find(({ event, status, suppressedBy }) => (status === 'sent' || suppressedBy === 'there') && outdates(event, row.event))
}

/** A row that its target never got: people may send it once the target is mended. */
function isMissed({ status, suppressedBy }: OutboxRow): boolean {
  return status === 'failed' || status === 'refused' || suppressedBy === 'target'
}

/** A row that waits after an attempt that failed, or for a target that is paused. */
function isHeldUp({ status, lastError, isUnderWay }: OutboxRow): boolean {
  return status === 'pending' && lastError !== undefined && isUnderWay !== true
}

function afterFailure(row: OutboxRow, end: Exclude<AttemptEnd, { kind: 'delivered' }>, nowMs: number, random: () => number): OutboxRow {
  const { isUnderWay, ...rest } = row
  switch (end.kind) {
    case 'gone':
      return suppress(row, 'target', cut(end.reason))
    case 'interrupted': {
      return {
        ...rest,
        ...(end.wasSent && lost(isoTime(nowMs))),
        attempts: row.attempts - (isUnderWay && !end.wasSent ? 1 : 0),
        nextAttemptAt: isoTime(nowMs),
      }
    }
    case 'rejected':
      if (end.isTargetBroken !== true && row.unreached !== undefined) return withoutUnreached({ ...rest, lastError: cut(end.reason) })
      if (end.isTargetBroken !== true) return { ...rest, status: 'failed', lastError: cut(end.reason) }
      return tryLater(
        {
          ...rest,
          ...{ status: 'refused', lastError: cut(end.reason) },
          ...(end.untilChanged && end.settings !== undefined && { refusedSettings: end.settings }),
        },
        nowMs,
        REFUSED_PAUSE_MS,
      )
    case 'retryable': {
      const ownMs = Math.max(backOffMs(RETRY, row.attempts, random), Math.min(end.afterMs ?? 0, MAX_ASKED_MS))
      // A row whose target is down is no worse than the others: it may be the one that tries the target next.
      const restMs = (end.restsUntilMs ?? nowMs) - nowMs
      const pauseMs = end.settingsChanged ? SOON_MS : restMs > 0 && end.isTargetDown === true ? restMs : Math.max(ownMs, restMs)
      return tryLater({ ...(end.isAmbiguous === true ? afterDoubt(rest, end, nowMs) : rest), lastError: cut(end.reason) }, nowMs, pauseMs)
    }
    case 'unseen':
      return tryLater(
        { ...rest, ...lookingSince(row, nowMs), attempts: row.attempts - 1, lastError: row.lastError ?? cut(end.reason) },
        nowMs,
        Math.max(end.lookAgainMs, (end.restsUntilMs ?? nowMs) - nowMs),
      )
  }
}

/** The attempt may have arrived: what it may have made is looked for from now on. */
function afterDoubt({ lookedSince: _l, ...row }: OutboxRow, { isUnanswered }: { readonly isUnanswered?: true }, nowMs: number): OutboxRow {
  return { ...row, ...(isUnanswered === true ? lost(isoTime(nowMs)) : { mayBeThere: true }) }
}

/** Since when it is looked for, and what for. Times that lie ahead are of a clock that has been set back since. */
function lookingSince({ lookedSince, unansweredAt }: OutboxRow, nowMs: number): Partial<OutboxRow> {
  const now = isoTime(nowMs)
  const past = (at: string) => (at < now ? at : now)
  return { lookedSince: past(lookedSince ?? now), ...(unansweredAt !== undefined && { unansweredAt: past(unansweredAt) }) }
}

function limitOf(end: AttemptEnd, nowMs: number): Pick<TicketThread, 'limitedUntil'> {
  if (end.kind !== 'retryable' || end.afterMs === undefined) return {}
  return { limitedUntil: isoTime(nowMs + Math.min(end.afterMs, MAX_ASKED_MS)) }
}

/** The end of an attempt that only looked: what an earlier one may have left behind is as old as it was. */
function withoutLoss(end: Exclude<AttemptEnd, { kind: 'delivered' }>): Exclude<AttemptEnd, { kind: 'delivered' }> {
  if (end.kind === 'interrupted') return { ...end, wasSent: false }
  if (end.kind !== 'retryable') return end
  const { isAmbiguous: _a, isUnanswered: _u, ...rest } = end
  return rest
}

function lost(at: string) {
  return { mayBeThere: true as const, unansweredAt: at }
}

function tryLater(row: OutboxRow, nowMs: number, pauseMs: number): OutboxRow {
  if (nowMs >= Date.parse(row.deadlineAt)) return giveUp(row)
  return { ...row, nextAttemptAt: isoTime(Math.min(nowMs + pauseMs, Date.parse(row.deadlineAt))) }
}

function giveUp(row: OutboxRow): OutboxRow {
  if (row.unreached !== undefined) return withoutUnreached(row)
  const { isUnderWay: _u, ...rest } = row
  return {
    ...rest,
    status: 'failed',
    lastError: cut(`given up after ${ROW_LIFE_MS / 3_600_000} h: ${row.lastError ?? 'it was never tried'}`),
  }
}

function changeHead(thread: TicketThread, now: string, change: (row: OutboxRow) => OutboxRow): TicketThread {
  const head = headOf(thread)
  return arrange({ ...thread, rows: thread.rows.map(row => (row === head ? change(row) : row)) }, now)
}

/** The rest of its target that was noted is over, or is not waited for. */
function withoutRest({ restsUntil: _r, ...thread }: TicketThread): TicketThread {
  return thread
}

function mergeTicket(before: ExternalTicket | undefined, now: ExternalTicket | undefined): ExternalTicket | undefined {
  if (now === undefined || before === undefined) return now ?? before
  return { ...before, ...now, ...((before.memory ?? now.memory) !== undefined && { memory: { ...before.memory, ...now.memory } }) }
}

function cut(reason: string): string {
  return shortened(reason, MAX_REASON_LENGTH)
}
