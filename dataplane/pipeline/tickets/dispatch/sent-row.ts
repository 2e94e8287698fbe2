/** A thread that was written after its first waiting row was dealt with, and how it is written. */
import type { TicketedIncident } from '../../../domain/tickets/incident-tickets.ts'
import type { OutboxRow } from '../../../domain/tickets/outbox-row.ts'
import type { TicketThread } from '../../../domain/tickets/ticket-thread.ts'
import type { TicketOutcome } from '../../../ports/incident-platform.ts'
import { type SearchStore, VersionConflict, type Versioned } from '../../../ports/search-store.ts'

export interface SentRow {
  /** The thread as it is written now. */
  readonly thread: Versioned<TicketThread>
  readonly before: TicketThread
  /** Absent when nothing was sent. */
  readonly row?: OutboxRow
  readonly outcome?: TicketOutcome
  readonly incident?: TicketedIncident
}

/** Undefined when somebody else was first. */
export async function writeThread(store: SearchStore, hit: Versioned<TicketThread>, next: TicketThread): Promise<SentRow | undefined> {
  try {
    const version = await store.put(hit.index, hit.id, next, hit)
    return { thread: { ...hit, ...version, source: next }, before: hit.source }
  } catch (error) {
    if (error instanceof VersionConflict) return undefined
    throw error
  }
}
