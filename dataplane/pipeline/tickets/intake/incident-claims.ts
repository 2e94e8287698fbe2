/** Which agent takes an incident up: a claim in the incident keeps the others away for a while. */
import type { TicketedIncident } from '../../../domain/tickets/incident-tickets.ts'
import { isoTime } from '../../../domain/time/iso-time.ts'
import { keepBounded } from '../../../limits/keep-bounded.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type SearchStore, VersionConflict, type Versioned } from '../../../ports/search-store.ts'
import { documentKey } from '../document-key.ts'

export interface IncidentClaims {
  /** Undefined when another agent takes the incident up. */
  claim(current: Versioned<TicketedIncident>): Promise<Versioned<TicketedIncident> | undefined>
  /** Whether no other agent takes it up now: a claim of this agent, or of one that is gone, is none. The agent itself knows what it has under way. */
  isFree(hit: Versioned<TicketedIncident>): boolean
  /** The incident was attended to. */
  forget(hit: Versioned<TicketedIncident>): void
}

/** How long an incident belongs to the agent that takes it up. After that another agent may take it up. */
const CLAIM_MS = 30_000
/** No claim lasts so long: one that does is of a clock that has been set back since. */
const TOO_FAR_MS = 600_000
const MAX_OWN_CLAIMS = 1_000

export function createIncidentClaims({
  store,
  clock,
  soleName,
}: {
  readonly store: SearchStore
  readonly clock: Clock
  /** Name that no other living agent has: claims under it that are not of this process are of one that is gone. */
  readonly soleName: string | undefined
}): IncidentClaims {
  /** Claims of this agent by document, so that it takes up at once an incident at which the store failed. */
  const own = new Map<string, string>()
  return {
    async claim(current) {
      const claimedUntil = isoTime(clock.nowMs() + CLAIM_MS)
      const claimed = { ...current.source.ticketing, claimedUntil, ...(soleName !== undefined && { claimedBy: soleName }) }
      const source = { ...current.source, ticketing: claimed }
      keepBounded(own, documentKey(current), claimedUntil, MAX_OWN_CLAIMS)
      try {
        const version = await store.put(current.index, current.id, source, current)
        return { ...current, ...version, source }
      } catch (error) {
        if (error instanceof VersionConflict) return undefined
        throw error
      }
    },
    isFree(hit) {
      const { claimedUntil, claimedBy } = hit.source.ticketing ?? {}
      if (claimedUntil === undefined || claimedUntil === own.get(documentKey(hit))) return true
      if (soleName !== undefined && claimedBy === soleName) return true
      const leftMs = Date.parse(claimedUntil) - clock.nowMs()
      return leftMs <= 0 || leftMs > TOO_FAR_MS
    },
    forget: hit => void own.delete(documentKey(hit)),
  }
}
