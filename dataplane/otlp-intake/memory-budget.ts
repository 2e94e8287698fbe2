/** The memory of requests under way: bounded over all of them, and over those of one owner. */
import { Refusal } from './refusal.ts'

/** Share of the budget that one owner may hold, so that slow requests of one leave room to the others. */
const OWNER_SHARE = 0.75

/** Bounds the request bytes held at once, over all requests and, where they have owners, over those of one. */
export class MemoryBudget {
  readonly #limitBytes: number
  readonly #owned = new Map<string, number>()
  #usedBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  /** `owner`: whose request it is, such as a tenant. */
  lease(owner?: string): MemoryLease {
    return new MemoryLease(this, owner)
  }

  /** `held` is what the asking request holds already: alone it gets what it needs, or it could never be served. */
  take(bytes: number, held: number, owner: string | undefined): void {
    if (this.#usedBytes + bytes > this.#limitBytes && this.#usedBytes > held) throw overloaded('', this.#usedBytes, this.#limitBytes)
    if (owner !== undefined) this.#takeFor(owner, bytes, held)
    this.#usedBytes += bytes
  }

  give(bytes: number, owner: string | undefined): void {
    this.#usedBytes -= bytes
    if (owner === undefined) return
    const left = (this.#owned.get(owner) ?? 0) - bytes
    if (left > 0) this.#owned.set(owner, left)
    else this.#owned.delete(owner)
  }

  #takeFor(owner: string, bytes: number, held: number): void {
    const used = this.#owned.get(owner) ?? 0
    const share = OWNER_SHARE * this.#limitBytes
    if (used + bytes > share && used > held) throw overloaded(` of ${owner}`, used, share)
    this.#owned.set(owner, used + bytes)
  }
}

function overloaded(whose: string, usedBytes: number, limitBytes: number): Refusal {
  return new Refusal('overloaded', `requests${whose} under way hold ${usedBytes} bytes, the limit is ${limitBytes}; try again later`)
}

/** The memory that one request holds. */
export class MemoryLease {
  readonly #budget: MemoryBudget
  readonly #owner: string | undefined
  #heldBytes = 0

  constructor(budget: MemoryBudget, owner?: string) {
    this.#budget = budget
    this.#owner = owner
  }

  /** Throws a `Refusal` at the limit. */
  grow(bytes: number): void {
    this.#budget.take(bytes, this.#heldBytes, this.#owner)
    this.#heldBytes += bytes
  }

  shrink(bytes: number): void {
    this.#budget.give(bytes, this.#owner)
    this.#heldBytes -= bytes
  }

  release(): void {
    this.shrink(this.#heldBytes)
  }
}
