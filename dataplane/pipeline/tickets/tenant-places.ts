/** Places for work under way, which tenants share: some stay free for tenants with little of it, so that the work of others does not stall theirs. */
import { isRecent } from '../../limits/is-recent.ts'
import type { Clock } from '../../ports/clock.ts'
import { within } from '../within.ts'

export interface PlaceLimits {
  /** Work under way; with `freshMs` alone what began within that time. */
  readonly atOnce: number
  readonly freshMs?: number
  /** All work under way, however old. Default: `atOnce`. */
  readonly total?: number
  readonly ofTenant: number
  /** Places that none but tenants with less than `FEW` under way may take. */
  readonly keptFree: number
}

export interface TenantPlaces {
  /** How many more places a tenant may take. */
  freeFor(tenant: string): number
  isTaken(key: string): boolean
  /** Takes a place until the work ends, which must not reject; resolves when the place is free again. */
  take(key: string, tenant: string, work: Promise<void>): Promise<void>
  /** Resolves when all that is under way has ended. */
  idle(): Promise<void>
  /** As `idle`, or when the time is over. */
  idleWithin(ms: number): Promise<void>
}

const FEW = 2

export function createTenantPlaces(
  { atOnce, freshMs = Number.POSITIVE_INFINITY, total = atOnce, ofTenant, keptFree }: PlaceLimits,
  clock: Clock,
): TenantPlaces {
  const taken = new Map<string, { readonly tenant: string; readonly sinceMs: number; readonly end: Promise<void> }>()
  const idle = async () => {
    await Promise.allSettled([...taken.values()].map(({ end }) => end))
  }
  return {
    freeFor(tenant) {
      const nowMs = clock.nowMs()
      const all = [...taken.values()]
      const own = all.filter(each => each.tenant === tenant).length
      const fresh = all.filter(({ sinceMs }) => isRecent(sinceMs, freshMs, nowMs)).length
      const free = Math.min(atOnce - fresh, total - all.length) - (own < FEW ? 0 : keptFree)
      return Math.max(0, Math.min(ofTenant - own, free))
    },
    isTaken: key => taken.has(key),
    take(key, tenant, work) {
      const end = work.finally(() => taken.delete(key))
      taken.set(key, { tenant, sinceMs: clock.nowMs(), end })
      return end
    },
    idle,
    idleWithin: ms => within(clock, ms, idle, () => undefined),
  }
}
