/** Seeded randomness of the hostile generators: the same seed gives the same requests. */

export interface Random {
  /** 0 up to, not including, 1. */
  next(): number
  /** An integer from 0 up to, not including, `limit`. */
  below(limit: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
}

/** Mulberry32: 32 bits of state, good enough to choose with. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { next, below, chance: probability => next() < probability, pick: items => items[below(items.length)]! }
}
