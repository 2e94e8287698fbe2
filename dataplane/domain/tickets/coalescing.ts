/** Which of the rows that wait are still worth sending, when newer ones stand behind them (Decisions 6). */
import type { IncidentStatus } from '../incidents/incident-status.ts'
import { isUnsettled, type OutboxRow, withoutUnreached } from './outbox-row.ts'
import { STATUS_AFTER, type TicketEvent } from './ticket-event.ts'

const MAX_NEWS = 20

/**
 * The rows with those suppressed that need not be sent. A row of which an attempt may have arrived stays as it is.
 * - recipients that were put off get the newer row, and none that is older;
 * - `resolve` and `reopen` undo what waits before them, but the words of a person where there is a ticket, and are needless where the ticket is in that state already;
 * - what was not told at all before it is resolved need not be told;
 * - an `open` has everything in it that updates and comments behind it would say, but the words of a person;
 * - of several updates in a row the last one tells the news of all.
 *
 * `ticketStatus`: of the ticket on the platform, undefined without one.
 */
export function coalesce(rows: readonly OutboxRow[], ticketStatus: IncidentStatus | undefined): readonly OutboxRow[] {
  const draft = createDraft(withoutOldRecipients(rows))
  suppressAroundLastTurn(draft, ticketStatus)
  suppressBehindOpening(draft)
  joinUpdates(draft)
  return draft.rows
}

function withoutOldRecipients(rows: readonly OutboxRow[]): readonly OutboxRow[] {
  return rows.map((row, at) =>
    row.unreached !== undefined && row.isUnderWay !== true && rows.slice(at + 1).some(isUnsettled) ? withoutUnreached(row) : row,
  )
}

/** The rows as they become; places are those in the list. */
interface Draft {
  readonly rows: OutboxRow[]
  /** Places of the rows that wait, of one event or of all. */
  waiting(event?: TicketEvent): readonly number[]
  /** Suppresses the row, unless something of it may have arrived. */
  drop(at: number, reason: string): void
}

function createDraft(before: readonly OutboxRow[]): Draft {
  const rows = [...before]
  return {
    rows,
    waiting: event => rows.flatMap((row, at) => (isUnsettled(row) && (event === undefined || row.event === event) ? [at] : [])),
    drop(at, reason) {
      const row = rows[at]!
      if (isUnsettled(row) && isFresh(row)) rows[at] = supersede(row, reason)
    },
  }
}

/** A last `resolve` or `reopen` makes rows before it needless, and is needless itself where it says nothing new. */
function suppressAroundLastTurn({ rows, waiting, drop }: Draft, ticketStatus: IncidentStatus | undefined): void {
  const last = waiting().findLast(at => rows[at]!.event === 'resolve' || rows[at]!.event === 'reopen')
  if (last === undefined) return
  const { event } = rows[last]!
  const isUntold = ticketStatus === undefined
  // Without a ticket, a reopening makes one as an opening does, and asks for no more than the one that still waits.
  const opens = (row: OutboxRow) => row.event === 'open' || (row.event === 'reopen' && !isFresh(row))
  const openings = waiting().filter(at => at < last && opens(rows[at]!))
  const isTold = !isUntold || (event === 'reopen' ? openings.length > 0 : openings.some(at => !isFresh(rows[at]!)))
  const staysBefore = (row: OutboxRow) => (isUntold && event === 'reopen' && row.event === 'open') || (isTold && isSpoken(row))
  for (const at of waiting().filter(each => each < last)) if (!staysBefore(rows[at]!)) drop(at, `${event} came after it`)
  const isOpening = waiting().some(at => at < last && opens(rows[at]!))
  const before = waiting().some(at => at < last && rows[at]!.event !== 'comment') ? undefined : ticketStatus
  if (isUntold && event === 'resolve' && !isOpening) drop(last, 'it was over before it was told')
  else if (isUntold && event === 'reopen' && isOpening) drop(last, 'it goes out with open')
  else if (before !== undefined && before === STATUS_AFTER[event]) drop(last, `the ticket is ${before} already`)
}

function suppressBehindOpening({ rows, waiting, drop }: Draft): void {
  const [opening] = waiting('open')
  if (opening === undefined || !isFresh(rows[opening]!)) return
  const needless = [...waiting('update'), ...waiting('comment').filter(at => !isSpoken(rows[at]!))]
  for (const at of needless) if (at > opening) drop(at, 'it goes out with open')
}

function joinUpdates({ rows, waiting, drop }: Draft): void {
  const left = waiting()
  for (const [i, at] of left.entries()) {
    const next = left[i + 1]
    if (next === undefined || rows[at]!.event !== 'update' || rows[next]!.event !== 'update') continue
    if (!isFresh(rows[at]!)) continue
    rows[next] = { ...rows[next]!, news: [...new Set([...rows[at]!.news, ...rows[next]!.news])].slice(-MAX_NEWS) }
    drop(at, 'it goes out with a later update')
  }
}

/** Words of a person. */
export function isSpoken({ event, change }: OutboxRow): boolean {
  return event === 'comment' && change !== undefined
}

/** Nothing of it can have arrived. */
export function isFresh({ isUnderWay, mayBeThere }: OutboxRow): boolean {
  return isUnderWay !== true && mayBeThere !== true
}

function supersede(row: OutboxRow, reason: string): OutboxRow {
  return { ...row, status: 'suppressed', suppressedBy: 'newer', lastError: reason }
}
