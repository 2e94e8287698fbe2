/** The agents on one store, as each of them sees the others: who sends to which target, so that a target's limits hold for all together. */
import { randomUUID } from 'node:crypto'
import { ownerOf } from '../../../domain/tickets/lane-owner.ts'
import { isoTime } from '../../../domain/time/iso-time.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import type { Log } from '../../../telemetry/log.ts'
import { aliveOf, readAgents, type StoredAgent, writeAgents } from './stored-agents.ts'

export interface LaneOwners {
  /** Whether this agent is the one that sends to a lane, now. */
  owns(lane: string): boolean
  /** Changes when lanes may have changed hands: the new owner of a lane cannot know what was sent just before. 0: no other agent was ever seen. */
  generation(): number
}

/** An agent that knows of no others. */
export const ALONE: LaneOwners = { owns: () => true, generation: () => 0 }

export interface AgentPresence extends LaneOwners {
  /** Looks at who is there, and says that this agent is; at least every `LOOK_MS`. Rejects with the store's errors. */
  round(): Promise<void>
  /** Gives its lanes to the others. */
  leave(): Promise<void>
}

export interface PresenceDeps {
  readonly store: Pick<SearchStore, 'get' | 'put'>
  readonly clock: Clock
  readonly log: Log
  /** The same after a restart, and no other agent's: an agent that was killed has its lanes back at once. */
  readonly name: string
}

/** How often an agent looks who else is there. */
export const LOOK_MS = 2_000
/** A look counts for so long: an agent that cannot look sends nothing. */
const VALID_MS = 6_000
/** An agent that takes a lane over waits this long: the owner before has surely seen by then that it lost the lane. */
const SETTLE_MS = 8_000
/** An agent that says nothing for so long is gone. Clocks of agents may differ by some seconds. */
const LEASE_MS = 20_000
const RENEW_BEFORE_MS = 10_000
const MAX_CONFLICTS = 20

export function createAgentPresence({ store, clock, log, name: givenName }: PresenceDeps): AgentPresence {
  const instance = randomUUID()
  let name = givenName
  let isMember = false
  let validUntilMs = Number.NEGATIVE_INFINITY
  /** From when on lanes count as this agent's: others have to see it first. */
  let actsFromMs = Number.NEGATIVE_INFINITY
  /** Other agents, until when they may still send to what was theirs. */
  let others = new Map<string, number>()
  let generation = 0
  let lookedAtMs = Number.NEGATIVE_INFINITY

  /** Times that are kept from look to look, on a clock that was set back since. */
  const followClock = (nowMs: number) => {
    if (nowMs < lookedAtMs) {
      actsFromMs = lookedAtMs >= actsFromMs ? nowMs : nowMs + SETTLE_MS
      others = new Map([...others].map(([other, untilMs]) => [other, Math.min(untilMs, nowMs + SETTLE_MS)]))
    }
    lookedAtMs = nowMs
  }

  const see = (present: readonly StoredAgent[], lookedMs: number, wasKnown: boolean) => {
    const left = [...others].filter(([, untilMs]) => untilMs > lookedMs)
    const seen = present.filter(agent => agent.name !== name).map(agent => [agent.name, lookedMs + SETTLE_MS] as const)
    const next = new Map([...left, ...seen])
    const isChanged = next.size !== others.size || [...next.keys()].some(each => !others.has(each))
    if (!isMember) {
      // Others know the agent by its name already where it was there a moment ago.
      actsFromMs = seen.length === 0 || wasKnown ? lookedMs : lookedMs + SETTLE_MS
      isMember = true
    }
    if (isChanged) {
      generation++
      log.info({ agents: [name, ...next.keys()] }, 'the agents that share the ticket targets have changed')
    }
    others = next
    validUntilMs = lookedMs + VALID_MS
  }

  const look = async (): Promise<boolean> => {
    const nowMs = clock.nowMs()
    followClock(nowMs)
    const stored = await readAgents(store)
    const present = aliveOf(stored, nowMs)
    const own = present.find(agent => agent.name === name)
    if (isMember && own?.instance !== instance) {
      isMember = false
      // Taken by another process with the same name, or run out while the agent could not look.
      if (own !== undefined) {
        log.warn({ name }, 'another ticketing agent has the same name: this one goes on with a name of its own')
        name = `${givenName}/${instance}`
        return false
      }
    }
    const isDue = !isMember || own === undefined || Date.parse(own.until) - nowMs < RENEW_BEFORE_MS
    if (isDue) {
      const entry: StoredAgent = { name, instance, until: isoTime(nowMs + LEASE_MS) }
      const agents = [...present.filter(agent => agent.name !== name), entry]
      if (!(await writeAgents(store, stored, agents, clock.nowMs()))) return false
    }
    see(present, nowMs, own !== undefined)
    return true
  }

  return {
    owns(lane) {
      const nowMs = clock.nowMs()
      if (!isMember || nowMs >= validUntilMs || nowMs < actsFromMs) return false
      return ownerOf(lane, [name, ...others.keys()]) === name
    },
    generation: () => generation,
    async round() {
      for (let attempt = 0; attempt < MAX_CONFLICTS; attempt++) if (await look()) return
    },
    async leave() {
      if (!isMember) return
      isMember = false
      for (let attempt = 0; attempt < MAX_CONFLICTS; attempt++) {
        const stored = await readAgents(store)
        const staying = aliveOf(stored, clock.nowMs()).filter(agent => agent.instance !== instance)
        if (await writeAgents(store, stored, staying, clock.nowMs())) return
      }
    },
  }
}
