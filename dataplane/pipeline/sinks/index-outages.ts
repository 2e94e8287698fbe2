/** Tells an index that is broken from a store that is away. */
import { isRecent } from '../../limits/is-recent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IndexHealth, SearchStore } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'

/**
 * Which indices take nothing while others of the store do: what is for them is given up after a while, so that one that is broken does not hold
 * up the others. While the whole store is away nothing is given up.
 */
export interface IndexOutages {
  /** Some index took nothing lately. */
  readonly isAny: boolean
  /** Why the index takes nothing, where it is given up and not to be asked again yet. */
  skipReason(index: string): string | undefined
  /** The index could not take a document. */
  failed(index: string, reason: string): void
  /** The index took a document. `hadFailed`: one that it could not take before. */
  took(index: string, hadFailed: boolean): void
  /** The indices that are given up now, out of some that just failed. */
  givenUp(indices: Iterable<string>): Promise<ReadonlySet<string>>
  /** The indices, out of some, that were red some seconds ago, while none of the store was on its way, as after its restart. */
  red(indices: readonly string[]): Promise<readonly string[]>
}

/** How long an index takes nothing before it is given up; without a failure for so long it counts as well. */
const OUTAGE_MS = 120_000
/** How often an index that is given up is tried: OpenSearch answers such a request after ten seconds. */
const TRY_EVERY_MS = 30_000
const HEALTH_MS = 5_000
/** Indices that are known to fail. The others wait until there is room. */
const MAX_OUTAGES = 1_000

interface Outage {
  sinceMs: number
  failedMs: number
  tookMs: number
  isGivenUp: boolean
  /** When a request with something for it was sent, or answered, last. */
  triedMs: number
  reason: string
}

export interface IndexOutagesDeps {
  readonly store: Pick<SearchStore, 'indexHealth'>
  readonly clock: Clock
  readonly log: Log
}

export function createIndexOutages({ store, clock, log }: IndexOutagesDeps): IndexOutages {
  const outages = new Map<string, Outage>()
  let known: { readonly atMs: number; readonly health: Promise<ReadonlyMap<string, IndexHealth> | undefined> } | undefined

  const health = () => {
    if (known === undefined || !isRecent(known.atMs, HEALTH_MS, clock.nowMs()))
      known = { atMs: clock.nowMs(), health: store.indexHealth().catch(() => undefined) }
    return known.health
  }
  /** The outage of an index. It is forgotten when it is over; an index that was given up must have taken a document since. */
  const outageOf = (index: string): Outage | undefined => {
    const outage = outages.get(index)
    if (outage === undefined || isRecent(outage.failedMs, OUTAGE_MS, clock.nowMs())) return outage
    if (outage.isGivenUp && outage.tookMs <= outage.failedMs) return outage
    outages.delete(index)
    return undefined
  }
  /** The index is there and is not on its way, and another one works or there is none. */
  const failsAlone = (index: string, all: ReadonlyMap<string, IndexHealth>) => {
    const own = all.get(index)
    if (own === undefined || own.isStarting) return false
    return all.size === 1 || [...all].some(([name, { isRed }]) => !isRed && name !== index && outageOf(name) === undefined)
  }
  const isGivenUp = (index: string, outage: Outage, all: ReadonlyMap<string, IndexHealth> | undefined): boolean => {
    if (all === undefined || !failsAlone(index, all)) {
      outage.sinceMs = clock.nowMs()
      outage.isGivenUp = false
      return false
    }
    if (outage.isGivenUp) return true
    // After a restart of the store its turn may be to come.
    if (isAnyStarting(all)) return false
    outage.isGivenUp = true
    log.error(
      { index, forMs: clock.nowMs() - outage.sinceMs },
      'an index takes nothing while others do: what is for it becomes dead letters',
    )
    return true
  }

  return {
    get isAny() {
      return outages.size > 0
    },
    skipReason(index) {
      const outage = outageOf(index)
      if (outage === undefined || !outage.isGivenUp) return undefined
      if (isRecent(outage.triedMs, TRY_EVERY_MS, clock.nowMs())) return outage.reason
      outage.triedMs = clock.nowMs()
      return undefined
    },
    failed(index, reason) {
      const nowMs = clock.nowMs()
      const last = { failedMs: nowMs, triedMs: nowMs, reason }
      const outage = outageOf(index)
      if (outage !== undefined) Object.assign(outage, last)
      else if (outages.size < MAX_OUTAGES)
        outages.set(index, { ...last, sinceMs: nowMs, tookMs: Number.NEGATIVE_INFINITY, isGivenUp: false })
    },
    took(index, hadFailed) {
      const outage = outages.get(index)
      if (outage === undefined) return
      if (!outage.isGivenUp) {
        if (hadFailed) outages.delete(index)
        return
      }
      if (outage.tookMs <= outage.failedMs) log.info({ index }, 'an index that was given up takes documents again')
      outage.tookMs = clock.nowMs()
      outage.triedMs = Number.NEGATIVE_INFINITY
    },
    async givenUp(indices) {
      const nowMs = clock.nowMs()
      const overdue = [...new Set(indices)].filter(index => {
        const outage = outageOf(index)
        return outage !== undefined && (outage.isGivenUp || !isRecent(outage.sinceMs, OUTAGE_MS, nowMs))
      })
      if (overdue.length === 0) return new Set()
      const all = await health()
      return new Set(
        overdue.filter(index => {
          const outage = outages.get(index)
          return outage !== undefined && isGivenUp(index, outage, all)
        }),
      )
    },
    async red(indices) {
      const all = await health()
      return all === undefined || isAnyStarting(all) ? [] : indices.filter(index => all.get(index)?.isRed === true)
    },
  }
}

function isAnyStarting(all: ReadonlyMap<string, IndexHealth>): boolean {
  return [...all.values()].some(({ isStarting }) => isStarting)
}
