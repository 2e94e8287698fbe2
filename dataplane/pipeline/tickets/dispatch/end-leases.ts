/** Ends, after a start, the leases of a process that is gone: what it had under way waits for nothing any more. */
import { ALL_DISPATCHES } from '../../../contract/indices.ts'
import { endAttempt } from '../../../domain/tickets/delivery.ts'
import type { TicketThread } from '../../../domain/tickets/ticket-thread.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type SearchStore, SearchStoreRefusal, VersionConflict, type Versioned } from '../../../ports/search-store.ts'
import type { Log } from '../../../telemetry/log.ts'

export interface LeaseEndingDeps {
  readonly store: Pick<SearchStore, 'search' | 'put'>
  readonly clock: Clock
  readonly log: Log
  /** Whose leases: those of this process and of the ones before it, of which no other lives. */
  readonly soleName: string
}

/** Threads that are looked at, those that changed last first. An agent has 64 under way; what is not found waits for its lease. */
const MAX_LOOKED_AT = 1_000

/** To be called before this process takes its first lease; further calls do nothing. Rejects while the store is away: that call is to be made again. */
export function createLeaseEnding({ store, clock, log, soleName }: LeaseEndingDeps): () => Promise<void> {
  let isOver = false

  const end = async () => {
    const hits = await findWaiting(store, new Date(clock.nowMs()).toISOString())
    let ended = 0
    for (const hit of hits) if (hit.source.lease?.by.startsWith(`${soleName}/`) && (await endLease(hit))) ended++
    if (ended > 0) log.info({ dispatches: ended }, 'dispatches that a process before this one had under way are taken over')
  }

  const endLease = async (hit: Versioned<TicketThread>): Promise<boolean> => {
    try {
      await store.put(hit.index, hit.id, endAttempt(hit.source, { kind: 'interrupted', wasSent: true }, clock.nowMs()), hit)
      return true
    } catch (error) {
      if (error instanceof VersionConflict || error instanceof SearchStoreRefusal) return false
      throw error
    }
  }

  return async () => {
    if (isOver) return
    try {
      await end()
    } catch (error) {
      if (!(error instanceof SearchStoreRefusal)) throw error
      log.warn({ error }, 'dispatches that a process before this one had under way wait until their leases run out')
    }
    isOver = true
  }
}

async function findWaiting(store: LeaseEndingDeps['store'], now: string) {
  const { hits } = await store.search<TicketThread>({
    index: ALL_DISPATCHES,
    takesPart: true,
    body: {
      size: MAX_LOOKED_AT,
      track_total_hits: false,
      query: { bool: { filter: [{ term: { state: 'pending' } }, { range: { dueAt: { gt: now } } }] } },
      sort: [{ updatedAt: { order: 'desc', unmapped_type: 'date' } }],
    },
  })
  return hits
}
