/** Seeded random numbers (xorshift128): the same sequence on every run. */
export class Random {
  #x: number
  #y = 362436069
  #z = 521288629
  #w = 88675123

  constructor(seed: number) {
    this.#x = (seed ^ 123456789) | 0
  }

  uint32(): number {
    const t = this.#x ^ (this.#x << 11)
    this.#x = this.#y
    this.#y = this.#z
    this.#z = this.#w
    this.#w = this.#w ^ (this.#w >>> 19) ^ t ^ (t >>> 8)
    return this.#w >>> 0
  }

  /** A whole number from 0 to `limit` − 1. */
  below(limit: number): number {
    return Math.floor((this.uint32() / 2 ** 32) * limit)
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!
  }

  hex(digits: number): string {
    let text = ''
    while (text.length < digits) text += this.uint32().toString(16).padStart(8, '0')
    return text.slice(0, digits)
  }
}
