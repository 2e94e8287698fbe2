import { createHash } from 'node:crypto'
import type { TicketRequest } from '../../ports/incident-platform.ts'

/** Stands at the end of comments and notes, so that one whose answer got lost is found and not written twice. */
export function eventReference({ eventKey }: Pick<TicketRequest, 'eventKey'>): string {
  return `logpipeline ${createHash('sha256').update(eventKey).digest('hex').slice(0, 10)}`
}
