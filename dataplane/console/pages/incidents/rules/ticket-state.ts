/** How the tickets of an incident stand, in words for people. */
import type { Incident, IncidentDispatch, IncidentSteps } from '../../../../domain/incidents/incident-fields.ts'
import { isGone } from '../../../../domain/tickets/target.ts'
import { outdates } from '../../../../domain/tickets/ticket-event.ts'
import type { ShownRow } from '../../../../domain/tickets/ticket-thread.ts'
import { titleOfTarget } from '../../settings/rules/platform-form.ts'

export interface TicketState {
  /** Target id. */
  readonly target: string
  readonly status: IncidentDispatch['status']
  readonly label: string
  /** The failure, the wait, or what the ticket lacks; absent where all is well. */
  readonly detail?: string
  /** When a ticket that waits, with a reason, is tried next. ISO-8601. */
  readonly nextAttemptAt?: string
  readonly externalId?: string
  readonly url?: string
  readonly canRetry: boolean
}

const LABELS: Readonly<Record<IncidentDispatch['status'], string>> = {
  pending: 'Waiting',
  sent: 'Told',
  failed: 'Not told',
  suppressed: 'Held back',
}
/** States in the order in which they need a hand. */
const ORDER: readonly IncidentDispatch['status'][] = ['failed', 'pending', 'suppressed', 'sent']

/** Those in need of a hand first. `rows` may be empty while they are read. */
export function ticketStates(
  { platforms, dispatches = {} }: Pick<Incident, 'platforms' | 'dispatches'>,
  rows: readonly ShownRow[],
): readonly TicketState[] {
  const states = [...new Set([...Object.keys(dispatches), ...platforms])].map(target => {
    const dispatch = dispatches[target] ?? { status: 'pending', attempts: 0 }
    return describeTicket(
      target,
      dispatch,
      rows.filter(({ platform }) => platform === target),
    )
  })
  return states.sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || (a.target < b.target ? -1 : 1))
}

/** The platforms that have been told, in a few words; undefined while that is still to come. A ticket that exists has told, though a later event may have failed. */
export function sayTold({
  platforms,
  dispatches,
  untold,
}: Pick<Incident & IncidentSteps, 'platforms' | 'dispatches' | 'untold'>): string | undefined {
  const tickets = ticketStates({ platforms, ...(dispatches && { dispatches }) }, [])
  const told = tickets.flatMap(({ target, status, externalId }) =>
    status === 'sent' || externalId !== undefined ? [titleOfTarget(target)] : [],
  )
  if (told.length > 0) return told.join(', ')
  if (tickets.some(({ status }) => status === 'pending')) return 'nobody yet'
  return tickets.length > 0 || untold !== undefined ? 'nobody' : undefined
}

function describeTicket(target: string, dispatch: IncidentDispatch, rows: readonly ShownRow[]): TicketState {
  const { status, externalId, lastError, attempts } = dispatch
  const url = safeUrl(dispatch.url)
  const isTryingAgain = status === 'pending' && attempts > 0 && lastError !== undefined
  const detail = describeTrouble(dispatch, rows)
  const isWaiting = status === 'pending' && detail !== undefined
  const nextAttemptAt = isWaiting ? rows.find(row => row.status === 'pending')?.nextAttemptAt : undefined
  return {
    ...{ target, status, canRetry: mayRetry(dispatch, rows) },
    label: isTryingAgain ? 'Trying again' : LABELS[status],
    ...(detail !== undefined && { detail }),
    ...(nextAttemptAt != null && { nextAttemptAt }),
    ...(externalId !== undefined && { externalId }),
    ...(url !== undefined && { url }),
  }
}

/** Whether a retry is taken, as far as rows tell. Otherwise its answer says why not. */
function mayRetry({ status, lastError }: IncidentDispatch, rows: readonly ShownRow[]): boolean {
  if (status === 'failed' || (status === 'pending' && lastError !== undefined)) return true
  if (status === 'suppressed' && lastError !== undefined && isGone(lastError)) return true
  // An earlier event may have failed where the newest is told, or held back.
  return missedRow(rows) !== undefined
}

/** The newest event that failed, and that no later one has made needless. */
function missedRow(rows: readonly ShownRow[]): ShownRow | undefined {
  return rows.findLast(
    (row, at) => row.status === 'failed' && !rows.slice(at + 1).some(later => later.status === 'sent' && outdates(later.event, row.event)),
  )
}

function describeTrouble({ status, attempts, lastError }: IncidentDispatch, rows: readonly ShownRow[]): string | undefined {
  const tries = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  if (status === 'failed') return `${lastError ?? 'no reason is known'} (${tries})`
  if (status === 'suppressed') return lastError
  if (status === 'pending') return attempts === 0 || lastError === undefined ? lastError : `${lastError} (${tries})`
  const missed = missedRow(rows)
  if (missed !== undefined) return `${missed.event} was not told: ${missed.lastError ?? 'no reason is known'}`
  return rows.findLast(row => row.status === 'sent')?.lastError ?? undefined
}

/** The address comes from the platform: only one that a browser should follow. */
export function safeUrl(url: string | null | undefined): string | undefined {
  const parsed = typeof url === 'string' ? URL.parse(url) : null
  return parsed !== null && (parsed.protocol === 'https:' || parsed.protocol === 'http:') ? parsed.href : undefined
}
