/** Seeded random numbers: the same seed, the same shop. */
export interface Random {
  /** 0 to 1, without 1. */
  readonly next: () => number
  readonly chance: (probability: number) => boolean
  /** A whole number from `from` to `to`, both of them among it. */
  readonly between: (from: number, to: number) => number
  readonly pick: <T>(from: readonly T[]) => T
  /** Waiting times of independent events. */
  readonly exponential: (mean: number) => number
  /** Durations as servers have them: half of them are shorter than the median, a few much longer. */
  readonly duration: (medianMs: number, spread?: number) => number
  readonly hex: (digits: number) => string
}

/** Deviation of a duration's logarithm. */
const USUAL_SPREAD = 0.35

/** Mulberry32: 32 bits of state are enough for a shop. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  // Box and Muller; 1 - next() is never 0.
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  return {
    next,
    chance: probability => next() < probability,
    between,
    pick: from => from[between(0, from.length - 1)]!,
    exponential: mean => -Math.log(1 - next()) * mean,
    duration: (medianMs, spread = USUAL_SPREAD) => medianMs * Math.exp(normal() * spread),
    hex: digits => Array.from({ length: digits }, () => between(0, 15).toString(16)).join(''),
  }
}
