/** The document in which the ticketing agents on one store say that they are there. */
import { CONFIG_INDEX } from '../../../contract/indices.ts'
import { isoTime } from '../../../domain/time/iso-time.ts'
import { type SearchStore, VersionConflict, type Versioned } from '../../../ports/search-store.ts'

export interface StoredAgent {
  readonly name: string
  /** Differs from process to process. */
  readonly instance: string
  /** ISO-8601. */
  readonly until: string
}

export interface StoredAgents {
  readonly section: 'agents'
  readonly agents: readonly StoredAgent[]
  readonly updatedAt: string
}

const AGENTS_ID = 'ticketing-agents'
/** Agents that are remembered; more share a store hardly. */
const MAX_AGENTS = 200
/** No agent says so much beforehand: one that did had a clock that has been set back since. */
const TOO_FAR_MS = 600_000

export function readAgents(store: Pick<SearchStore, 'get'>): Promise<Versioned<StoredAgents> | undefined> {
  return store.get<StoredAgents>(CONFIG_INDEX, AGENTS_ID)
}

/** Agents whose word still holds. */
export function aliveOf(stored: Versioned<StoredAgents> | undefined, nowMs: number): readonly StoredAgent[] {
  return (stored?.source.agents ?? []).filter(({ until }) => Date.parse(until) > nowMs && Date.parse(until) <= nowMs + TOO_FAR_MS)
}

/** Writes who is there; false when somebody else wrote first. */
export async function writeAgents(
  store: Pick<SearchStore, 'put'>,
  stored: Versioned<StoredAgents> | undefined,
  agents: readonly StoredAgent[],
  nowMs: number,
): Promise<boolean> {
  const document: StoredAgents = { section: 'agents', agents: agents.slice(-MAX_AGENTS), updatedAt: isoTime(nowMs) }
  try {
    await store.put(CONFIG_INDEX, AGENTS_ID, document, stored ?? { only: 'new' })
    return true
  } catch (error) {
    if (error instanceof VersionConflict) return false
    throw error
  }
}
