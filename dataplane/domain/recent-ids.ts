/** The most recent ids, at least `capacity` of them and at most twice as many: two generations, the older dropped when the younger is full. */
export class RecentIds {
  readonly #capacity: number
  #young = new Set<string>()
  #old = new Set<string>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  has(id: string): boolean {
    return this.#young.has(id) || this.#old.has(id)
  }

  /** False when the id was there already. */
  add(id: string): boolean {
    if (this.has(id)) return false
    this.#young.add(id)
    if (this.#young.size >= this.#capacity) {
      this.#old = this.#young
      this.#young = new Set()
    }
    return true
  }

  delete(id: string): void {
    this.#young.delete(id)
    this.#old.delete(id)
  }
}
