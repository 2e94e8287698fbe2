/** Events of an incident that platforms are told; each of them is one dispatch (Decisions 6). */
import type { IncidentStatus } from '../incidents/incident-status.ts'

/**
 * `update`: a rise in severity or a new affected service. `comment`: text for the ticket that changes no state there, such as the verdict of a
 * language model.
 */
export const TICKET_EVENTS = ['open', 'update', 'acknowledge', 'resolve', 'escalate', 'reopen', 'comment'] as const
export type TicketEvent = (typeof TICKET_EVENTS)[number]

/** The ticket's status after a delivered event; other events leave the status as it is. */
export const STATUS_AFTER: Readonly<Partial<Record<TicketEvent, IncidentStatus>>> = {
  open: 'open',
  acknowledge: 'acknowledged',
  resolve: 'resolved',
  escalate: 'escalated',
  reopen: 'open',
}

/** Whether an event that has reached a ticket leaves nothing to say of one before it: on some platforms a ticket that is resolved would be open again. */
export function outdates(later: TicketEvent, earlier: TicketEvent): boolean {
  if (later === 'resolve' || later === 'reopen') return true
  return STATUS_AFTER[earlier] !== undefined && STATUS_AFTER[later] !== undefined
}
