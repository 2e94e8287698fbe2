/** Random choices (mulberry32) that are the same for the same seed. */
export class SeededRandom {
  #state: number

  /** `seed` is taken modulo 2^32. */
  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** From 0 up to 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 0 to `limit` − 1. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit)
  }

  /** A whole number from `least` to `most`, most often a small one. */
  mostlySmall(least: number, most: number): number {
    return Math.floor(least * (most / least) ** this.fraction())
  }

  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!
  }

  list<T>(length: number, element: (index: number) => T): T[] {
    return Array.from({ length }, (_, index) => element(index))
  }

  bytes(length: number): Buffer {
    return Buffer.from(this.list(length, () => this.below(256)))
  }

  hex(digits: number): string {
    return this.list(digits, () => this.pick('0123456789abcdef'.split(''))).join('')
  }
}
