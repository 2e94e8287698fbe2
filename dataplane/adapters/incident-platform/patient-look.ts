/** Looks for a ticket that an earlier attempt may have made; for as long as the platform may take to show it, no other is made. */
import type { TicketEvent } from '../../domain/tickets/ticket-event.ts'
import type { TicketRequest } from '../../ports/incident-platform.ts'
import { NotDelivered } from './http-platform.ts'
import { changesSeverity } from './told-severity.ts'

/** Events that are worth a ticket where there is none. */
export const OPENING: ReadonlySet<TicketEvent> = new Set(['open', 'update', 'escalate', 'reopen'])

/** Whether people are asked for again: worth opening what they closed there, or a new ticket where the old one is deleted or closed for good. */
export function asksAgain(request: Pick<TicketRequest, 'event' | 'content' | 'ticket'>): boolean {
  const { event } = request
  return event === 'escalate' || event === 'reopen' || (event === 'update' && changesSeverity(request))
}

export interface Patience {
  /** After an answer such as 503, from the first look on; after no answer, from its end on. */
  readonly answeredMs: number
  readonly unansweredMs: number
  /** The first pause between two looks; the longer it is looked, the longer they are, `maxPauseMs` at most. */
  readonly pauseMs: number
  readonly maxPauseMs: number
}

/**
 * Undefined when it is not there by all that can be known. Throws `NotDelivered` while it may show later: an attempt that waited for that would keep a place
 * that other tickets of the target need.
 */
export async function lookPatiently<T>(
  platform: string,
  request: TicketRequest,
  patience: Patience,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const found = await look()
  const leftMs = patienceMs(request, patience)
  if (found !== undefined || leftMs <= 0) return found
  const pauseMs = Math.min(patience.maxPauseMs, patience.pauseMs + (request.lookedForMs ?? 0) / 2)
  const reason = `${platform} does not show whether an earlier attempt has arrived: it is looked for again`
  throw new NotDelivered({ kind: 'unseen', reason, lookAgainMs: Math.min(pauseMs, leftMs) })
}

/** How much longer to look. */
function patienceMs(
  { mayBeThere, unansweredForMs, lookedForMs = 0, event }: TicketRequest,
  { answeredMs, unansweredMs }: Patience,
): number {
  if (!mayBeThere || !OPENING.has(event)) return 0
  return unansweredForMs === undefined ? answeredMs - lookedForMs : unansweredMs - unansweredForMs
}
