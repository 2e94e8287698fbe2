/** Which tenants have their alias on which daily index of logs, and which are to get one: what `log-aliases.ts` remembers. */
import { perMinute, TokenBucket } from '../../../limits/token-bucket.ts'
import type { Clock } from '../../../ports/clock.ts'

/** Tenants seen for the first time whose aliases are made within a minute; those of the others wait. Known tenants never wait, such as at midnight. */
export const NEW_ALIASES_A_MINUTE = 1_000
/** In one request. */
const MAX_BATCH = 250
/** Aliases of one daily index. Tenants beyond it are found in `service-logs-*` alone. */
const MAX_ALIASES = 20_000
/** Aliases that wait, of all indices. Those beyond it are found missing later. */
const MAX_WAITING = 100_000
/** Daily indices whose tenants are remembered. */
const MAX_INDICES = 100
/** Tenants that are remembered as not new. */
const MAX_KNOWN_TENANTS = 100_000

export interface IndexAliases {
  /** Tenants whose alias is there; undefined until the store has told. */
  there: Set<string> | undefined
  /** Tenants without, in the order of their coming; true: it was counted that they wait. */
  readonly wanted: Map<string, boolean>
  /** Tenants whose alias the store refuses: an index may have its name. */
  readonly refused: Set<string>
  /** When the store was asked last. */
  checkedMs: number
}

export class WantedAliases {
  readonly #clock: Clock
  readonly #indices = new Map<string, IndexAliases>()
  readonly #knownTenants = new Map<string, number>()
  readonly #allowance: TokenBucket
  #waiting = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#allowance = new TokenBucket(perMinute(NEW_ALIASES_A_MINUTE), clock.nowMs())
  }

  /** Aliases that wait, of all indices. */
  get waiting(): number {
    return this.#waiting
  }

  get indices(): Iterable<readonly [string, IndexAliases]> {
    return this.#indices
  }

  of(index: string): IndexAliases {
    const known = this.#indices.get(index)
    if (known !== undefined) return known
    if (this.#indices.size >= MAX_INDICES) this.drop(this.#indices.keys().next().value!)
    const aliases: IndexAliases = { there: undefined, wanted: new Map(), refused: new Set(), checkedMs: this.#clock.nowMs() }
    this.#indices.set(index, aliases)
    return aliases
  }

  drop(index: string): void {
    this.#waiting -= this.#indices.get(index)?.wanted.size ?? 0
    this.#indices.delete(index)
  }

  want({ wanted, refused }: IndexAliases, tenant: string): void {
    if (this.#waiting >= MAX_WAITING || wanted.has(tenant) || refused.has(tenant)) return
    wanted.set(tenant, false)
    this.#waiting++
  }

  /** The alias is not tried again before the store is asked anew for those of the index. */
  refuse({ wanted, refused }: IndexAliases, tenant: string): void {
    refused.add(tenant)
    if (wanted.delete(tenant)) this.#waiting--
  }

  noteThere({ there, wanted }: IndexAliases, tenant: string): void {
    there?.add(tenant)
    if (wanted.delete(tenant)) this.#waiting--
    if (this.#knownTenants.has(tenant)) return
    if (this.#knownTenants.size >= MAX_KNOWN_TENANTS) this.#knownTenants.delete(this.#knownTenants.keys().next().value!)
    this.#knownTenants.set(tenant, this.#clock.nowMs())
  }

  /** When a tenant was first known to have an alias, ms. */
  knownSinceMs(tenant: string): number | undefined {
    return this.#knownTenants.get(tenant)
  }

  /** The next tenants of an index whose aliases may be made now: known ones first. */
  next({ wanted, there }: IndexAliases): readonly string[] {
    const room = Math.min(MAX_BATCH, MAX_ALIASES - (there?.size ?? 0))
    const known: string[] = []
    const others: string[] = []
    for (const tenant of wanted.keys()) {
      if (known.length >= room) break
      if (this.#knownTenants.has(tenant)) known.push(tenant)
      else if (others.length < room) others.push(tenant)
    }
    const wantedNew = Math.min(others.length, room - known.length)
    return [...known, ...others.slice(0, this.#allowance.takeUpTo(wantedNew, this.#clock.nowMs()))]
  }

  /** Aliases that wait and were not counted before. */
  countWaiting(): number {
    let count = 0
    for (const { wanted } of this.#indices.values())
      for (const [tenant, wasCounted] of wanted) {
        if (wasCounted) continue
        wanted.set(tenant, true)
        count++
      }
    return count
  }
}
