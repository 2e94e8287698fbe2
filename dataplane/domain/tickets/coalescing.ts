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
  const result = rows.map((row, at) =>
    row.unreached !== undefined && row.isUnderWay !== true && rows.slice(at + 1).some(isUnsettled) ? withoutUnreached(row) : row,
  )
  const drop = (at: number, reason: string) => {
    const row = result[at]!
    if (isUnsettled(row) && isFresh(row)) result[at] = supersede(row, reason)
  }
  const waiting = (event?: TicketEvent) =>
    result.flatMap((row, at) => (isUnsettled(row) && (event === undefined || row.event === event) ? [at] : []))

  const last = waiting().findLast(at => result[at]!.event === 'resolve' || result[at]!.event === 'reopen')
  if (last !== undefined) {
    const { event } = result[last]!
    const isUntold = ticketStatus === undefined
    // Without a ticket, a reopening asks for no more than the opening that still waits.
    const openings = waiting('open').filter(at => at < last)
    const isTold = !isUntold || (event === 'reopen' ? openings.length > 0 : openings.some(at => !isFresh(result[at]!)))
    const isSpoken = ({ event: what, change }: OutboxRow) => what === 'comment' && change !== undefined
    for (const at of waiting().filter(each => each < last))
      if (!(isUntold && event === 'reopen' && result[at]!.event === 'open') && !(isTold && isSpoken(result[at]!)))
        drop(at, `${event} came after it`)
    const isOpening = waiting('open').some(at => at < last)
    const before = waiting().some(at => at < last && result[at]!.event !== 'comment') ? undefined : ticketStatus
    if (isUntold && event === 'resolve' && !isOpening) drop(last, 'it was over before it was told')
    else if (isUntold && event === 'reopen' && isOpening) drop(last, 'it goes out with open')
    else if (before !== undefined && before === STATUS_AFTER[event]) drop(last, `the ticket is ${before} already`)
  }

  const opening = waiting('open')[0]
  if (opening !== undefined && isFresh(result[opening]!))
    for (const at of [...waiting('update'), ...waiting('comment').filter(each => result[each]!.change === undefined)])
      if (at > opening) drop(at, 'it goes out with open')

  const left = waiting()
  for (const [i, at] of left.entries()) {
    const next = left[i + 1]
    if (next === undefined || result[at]!.event !== 'update' || result[next]!.event !== 'update') continue
    if (!isFresh(result[at]!)) continue
    result[next] = { ...result[next]!, news: [...new Set([...result[at]!.news, ...result[next]!.news])].slice(-MAX_NEWS) }
    drop(at, 'it goes out with a later update')
  }
  return result
}

/** Nothing of it can have arrived. */
export function isFresh({ isUnderWay, mayBeThere }: OutboxRow): boolean {
  return isUnderWay !== true && mayBeThere !== true
}

function supersede(row: OutboxRow, reason: string): OutboxRow {
  return { ...row, status: 'suppressed', suppressedBy: 'newer', lastError: reason }
}
