/** Bounds how fast tenants get indices of their own for anomalies and incidents. */
import { ALL_ANOMALIES, anomaliesIndex } from '../../../contract/indices.ts'
import { DEFAULT_TENANT } from '../../../contract/tenant-id.ts'
import { isRecent } from '../../../limits/is-recent.ts'
import { perMinute, TokenBucket } from '../../../limits/token-bucket.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { SearchStore } from '../../../ports/search-store.ts'

/** Which tenants have indices of their own for anomalies and incidents, and which may get them now. */
export interface TenantRooms {
  /** The given tenants whose anomalies go to their own indices now. New tenants among them take from the minute's allowance. */
  admit(tenants: Iterable<string>): Promise<ReadonlySet<string>>
  /** The given tenants that have indices of their own. */
  known(tenants: Iterable<string>): Promise<ReadonlySet<string>>
  /** The store made no further index for a tenant: no new one is tried for a minute. */
  hasNoRoom(tenant: string): void
  /** The tenants' indices do not work: nothing goes to them for a minute. */
  close(tenants: Iterable<string>): void
}

/** Tenants that get indices of their own within a minute: three indices each. */
const NEW_TENANTS_A_MINUTE = 100
/** And at once, and within a second: making their indices delays the anomalies of the others by less than a second. */
const NEW_AT_ONCE = 10
/** Tenants that are remembered as having indices. */
const MAX_KNOWN = 50_000
const CLOSED_MS = 60_000
/** How often the store is asked which indices there are, while there are tenants whose are not known. */
const LIST_EVERY_MS = 10_000

const PREFIX = anomaliesIndex('')

export interface TenantRoomsDeps {
  readonly store: Pick<SearchStore, 'listIndices'>
  readonly clock: Clock
  /** Since when a tenant has sent logs, ms; undefined where that is not known. */
  readonly knownSinceMs?: (tenant: string) => number | undefined
}

/** Half of the new indices go to the tenants that have sent logs for longest, so that a sender who invents tenants cannot keep them waiting. */
export function createTenantRooms({ store, clock, knownSinceMs = () => undefined }: TenantRoomsDeps): TenantRooms {
  const owners = new Set<string>()
  const closed = new Map<string, number>()
  const allowance = new TokenBucket(perMinute(NEW_TENANTS_A_MINUTE), clock.nowMs())
  const atOnce = new TokenBucket({ perSecond: NEW_AT_ONCE, burst: NEW_AT_ONCE }, clock.nowMs())
  let listedMs = Number.NEGATIVE_INFINITY
  let fullMs = Number.NEGATIVE_INFINITY

  const own = (tenant: string) => {
    if (owners.size >= MAX_KNOWN) owners.delete(owners.keys().next().value!)
    owners.add(tenant)
  }
  const isOpen = (tenant: string) => {
    const closedMs = closed.get(tenant)
    if (closedMs === undefined) return true
    if (isRecent(closedMs, CLOSED_MS, clock.nowMs())) return false
    closed.delete(tenant)
    return true
  }
  const hasOwn = (tenant: string) => tenant === DEFAULT_TENANT || owners.has(tenant)
  /** Splits tenants into those with indices and the others; the closed ones are in neither. */
  const split = async (tenants: Iterable<string>) => {
    const open = [...new Set(tenants)].filter(isOpen)
    if (open.every(hasOwn)) return { known: new Set(open), unknown: [] }
    if (!isRecent(listedMs, LIST_EVERY_MS, clock.nowMs())) {
      listedMs = clock.nowMs()
      for (const name of await store.listIndices(ALL_ANOMALIES)) own(name.slice(PREFIX.length))
    }
    return { known: new Set(open.filter(hasOwn)), unknown: open.filter(tenant => !hasOwn(tenant)) }
  }

  const sinceMs = (tenant: string) => knownSinceMs(tenant) ?? Number.MAX_SAFE_INTEGER
  const choose = (tenants: readonly string[], count: number): readonly string[] => {
    if (count === 0 || count >= tenants.length) return tenants.slice(0, count)
    const longestKnown = tenants.toSorted((a, b) => sinceMs(a) - sinceMs(b)).slice(0, Math.ceil(count / 2))
    const chosen = new Set(longestKnown)
    for (const tenant of tenants) {
      if (chosen.size === count) break
      chosen.add(tenant)
    }
    return [...chosen]
  }

  return {
    async admit(tenants) {
      const { known, unknown } = await split(tenants)
      const nowMs = clock.nowMs()
      if (unknown.length === 0 || isRecent(fullMs, CLOSED_MS, nowMs)) return known
      const most = Math.min(unknown.length, atOnce.left(nowMs))
      const admitted = choose(unknown, atOnce.takeUpTo(allowance.takeUpTo(most, nowMs), nowMs))
      for (const tenant of admitted) {
        own(tenant)
        known.add(tenant)
      }
      return known
    },
    async known(tenants) {
      return (await split(tenants)).known
    },
    hasNoRoom(tenant) {
      owners.delete(tenant)
      fullMs = clock.nowMs()
    },
    close(tenants) {
      for (const tenant of tenants) closed.set(tenant, clock.nowMs())
    },
  }
}
