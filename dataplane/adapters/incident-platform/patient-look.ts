/** Looks for a ticket that an earlier attempt may have made: once, and again for as long as the platform may take to show it. */
import type { TicketEvent } from '../../domain/tickets/ticket-event.ts'
import type { TicketRequest } from '../../ports/incident-platform.ts'
import type { TargetCalls } from './http-platform.ts'
import { changesSeverity } from './told-severity.ts'

/** Events that are worth a ticket where there is none. */
export const OPENING: ReadonlySet<TicketEvent> = new Set(['open', 'update', 'escalate', 'reopen'])

/** Whether people are asked for again: worth opening what they closed there, or a new ticket where the old one is deleted or closed for good. */
export function asksAgain(request: Pick<TicketRequest, 'event' | 'content' | 'ticket'>): boolean {
  const { event } = request
  return event === 'escalate' || event === 'reopen' || (event === 'update' && changesSeverity(request))
}

export interface Patience {
  /** After an answer such as 503, and after no answer, from its end on. */
  readonly answeredMs: number
  readonly unansweredMs: number
  /** The first pause between two looks; each is `stepMs` longer than the one before, `maxPauseMs` at most. */
  readonly pauseMs: number
  readonly stepMs: number
  readonly maxPauseMs: number
}

export async function lookPatiently<T>(
  request: TicketRequest,
  patience: Patience,
  calls: TargetCalls,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  let { pauseMs } = patience
  for (
    let leftMs = patienceMs(request, patience);
    ;
    leftMs -= pauseMs, pauseMs = Math.min(patience.maxPauseMs, pauseMs + patience.stepMs)
  ) {
    const found = await look()
    if (found !== undefined || leftMs <= 0) return found
    await calls.wait(Math.min(pauseMs, leftMs))
  }
}

/** How much longer to look. */
function patienceMs({ mayBeThere, unansweredForMs, event }: TicketRequest, { answeredMs, unansweredMs }: Patience): number {
  if (!mayBeThere || !OPENING.has(event)) return 0
  return unansweredForMs === undefined ? answeredMs : unansweredMs - unansweredForMs
}
