import { Refusal } from './refusal.ts'

/** Bounds the request bytes held at once, over all requests. */
export class MemoryBudget {
  readonly #limitBytes: number
  #usedBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  lease(): MemoryLease {
    return new MemoryLease(this)
  }

  /** `held` is what the asking request holds already: alone it gets what it needs, or it could never be served. */
  take(bytes: number, held: number): void {
    if (this.#usedBytes + bytes > this.#limitBytes && this.#usedBytes > held)
      throw new Refusal('overloaded', `requests under way hold ${this.#usedBytes} bytes, the limit is ${this.#limitBytes}; try again later`)
    this.#usedBytes += bytes
  }

  give(bytes: number): void {
    this.#usedBytes -= bytes
  }
}

/** The memory that one request holds. */
export class MemoryLease {
  readonly #budget: MemoryBudget
  #heldBytes = 0

  constructor(budget: MemoryBudget) {
    this.#budget = budget
  }

  /** Throws a `Refusal` at the limit. */
  grow(bytes: number): void {
    this.#budget.take(bytes, this.#heldBytes)
    this.#heldBytes += bytes
  }

  shrink(bytes: number): void {
    this.#budget.give(bytes)
    this.#heldBytes -= bytes
  }

  release(): void {
    this.shrink(this.#heldBytes)
  }
}
