import { SEVERITIES, type Severity } from '../../contract/platforms.ts'
import type { TicketEvent } from '../../domain/tickets/ticket-event.ts'
import type { TicketRequest } from '../../ports/incident-platform.ts'

/**
 * How severe the platform is told that the incident is (Decisions 6): an escalation is critical on platforms that know the incident, one step up on
 * others; later events stay at what was told, unless the incident rose or was opened again.
 */
export function toldSeverity({ event, content, ticket }: Pick<TicketRequest, 'event' | 'content' | 'ticket'>): Severity {
  const rank = SEVERITIES.indexOf(content.severity)
  if (event === 'escalate') return ticket === undefined ? SEVERITIES[Math.max(0, rank - 1)]! : 'critical'
  const before = SEVERITIES.indexOf(ticket?.memory?.['severity'] as Severity)
  return event === 'reopen' || before < 0 || before > rank ? content.severity : SEVERITIES[before]!
}

/** Whether the platform's own severity is to be changed by the event: an acknowledgement or a comment leaves it as it is. */
export function changesSeverity(request: Pick<TicketRequest, 'event' | 'content' | 'ticket'>): boolean {
  return CHANGING.has(request.event) && toldSeverity(request) !== request.ticket?.memory?.['severity']
}

const CHANGING: ReadonlySet<TicketEvent> = new Set(['update', 'escalate', 'reopen'])
