/** Dispatches of a route, added up from the counters of pods, which begin at zero with each process. The status is where the sums are kept. */
import type { TicketingRouteStatus } from '../../api/status.ts'

/** A pod's counts of one target since its process began. */
export interface TargetCounts {
  readonly dispatched: number
  readonly failed: number
  /** ms since the epoch. */
  readonly lastDispatchMs?: number
  readonly lastFailureMs?: number
  /** Why the last attempt failed, where that is known. */
  readonly lastError?: string
}

/** The last answer of a ticketing agent. */
export interface AgentCounts {
  readonly pod: string
  /** When its process began, RFC 3339; empty when it does not say. */
  readonly since: string
  /** By target id. */
  readonly targets: ReadonlyMap<string, TargetCounts>
}

export interface Counted extends Pick<TicketingRouteStatus, 'lastDispatchTime' | 'counted'> {
  readonly dispatched: number
  readonly failed: number
}

export interface CountInput {
  readonly before: TicketingRouteStatus | undefined
  readonly target: string | undefined
  readonly agents: readonly AgentCounts[]
  /** Whether a pod of this name is there: what it had counted must not count again. */
  readonly isThere: (pod: string) => boolean
}

const NONE: TargetCounts = { dispatched: 0, failed: 0 }
/** Pods whose counters are added up and noted, of all pipelines of a route. */
const MAX_COUNTED_PODS = 100

/** The sums of the status and what the counters have grown by since. They never fall. */
export function countDispatches({ before, target, agents, isThere }: CountInput): Counted {
  const { dispatched = 0, failed = 0, counted = [], lastDispatchTime } = before ?? {}
  // Counts of another target are none of the route's.
  const isMoved = before?.target !== undefined && before.target !== target
  const noted = isMoved ? [] : counted
  const told = agents.toSorted((a, b) => (a.pod < b.pod ? -1 : 1)).slice(0, MAX_COUNTED_PODS)
  const seen = told.map(agent => {
    const counts = agent.targets.get(target ?? '') ?? NONE
    return { agent, counts, base: isMoved ? counts : baseOf(noted, agent, counts) }
  })
  const growth = (field: 'dispatched' | 'failed') => seen.reduce((sum, { counts, base }) => sum + counts[field] - base[field], 0)
  const asked = new Set(told.map(({ pod }) => pod))
  const kept = noted.filter(({ pod }) => !asked.has(pod) && isThere(pod))
  const now = seen.flatMap(({ agent: { pod, since }, counts }) =>
    counts.dispatched + counts.failed === 0 ? [] : [{ pod, since, dispatched: counts.dispatched, failed: counts.failed }],
  )
  const all = [...now, ...kept].slice(0, MAX_COUNTED_PODS).sort((a, b) => (a.pod < b.pod ? -1 : 1))
  const last = [lastDispatchTime, ...seen.map(({ counts }) => timeOf(counts.lastDispatchMs))]
    .filter(time => time !== undefined)
    .sort()
    .at(-1)
  return {
    dispatched: dispatched + growth('dispatched'),
    failed: failed + growth('failed'),
    ...(last === undefined ? {} : { lastDispatchTime: last }),
    ...(all.length === 0 ? {} : { counted: all }),
  }
}

/** The part of a pod's counters that the status holds already; zero for a process that has started since. */
function baseOf(noted: NonNullable<TicketingRouteStatus['counted']>, { pod, since }: AgentCounts, counts: TargetCounts): TargetCounts {
  const known = noted.find(entry => entry.pod === pod && entry.since === since)
  return known === undefined || known.dispatched > counts.dispatched || known.failed > counts.failed ? NONE : known
}

/** As `metav1.Time`: RFC 3339 in UTC, whole seconds. */
function timeOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
