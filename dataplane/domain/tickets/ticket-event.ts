/** Events of an incident that platforms are told; each of them is one dispatch (Decisions 6). */

/**
 * `update`: a rise in severity or a new affected service. `comment`: text for the ticket that changes no state there, such as the verdict of a
 * language model.
 */
export const TICKET_EVENTS = ['open', 'update', 'acknowledge', 'resolve', 'escalate', 'reopen', 'comment'] as const
export type TicketEvent = (typeof TICKET_EVENTS)[number]
