/** The few statistics that the detectors share. Results are finite for all counts that can occur. */

/** One number for the baseline, one for the window. */
export type Pair = [number, number]

/**
 * How unlikely it is that `count` of `of` units in the window and in the baseline come from one share: the root of the likelihood ratio G, which
 * goes like a standard normal; positive where the window has the larger share. 0 where a side is empty or all units agree.
 */
export function shareShift(count: Readonly<Pair>, of: Readonly<Pair>): number {
  const [before, now] = count
  const [unitsBefore, unitsNow] = of
  if (unitsBefore === 0 || unitsNow === 0) return 0
  const share = (before + now) / (unitsBefore + unitsNow)
  if (share <= 0 || share >= 1) return 0
  const g = 2 * (logLikelihood(now, unitsNow, share) + logLikelihood(before, unitsBefore, share))
  return Math.sign(now / unitsNow - before / unitsBefore) * Math.sqrt(Math.max(g, 0))
}

/** Counts of the baseline, of the window, and of a part of the baseline by itself, which the first does not hold. */
export type Triple = [number, number, number]

/** A shift, and what it was counted from. */
export interface Shifted {
  readonly count: Readonly<Pair>
  readonly of: Readonly<Pair>
  readonly shift: number
}

/** The shift that the baseline shows with its third part and without it: the lesser; undefined where one is none, or they differ in direction. */
export function sharedShift(count: Readonly<Triple>, of: Readonly<Triple>): Shifted | undefined {
  const without = shifted([count[0], count[1]], [of[0], of[1]])
  return lesserShift(without, of[2] === 0 ? without : shifted([count[0] + count[2], count[1]], [of[0] + of[2], of[1]]))
}

const shifted = (count: Readonly<Pair>, of: Readonly<Pair>): Shifted => ({ count, of, shift: shareShift(count, of) })

/** The lesser of two shifts; undefined where one is none, or they differ in direction. */
export function lesserShift<T extends { readonly shift: number }>(one: T, other: T): T | undefined {
  if (one.shift * other.shift <= 0) return undefined
  return Math.abs(one.shift) <= Math.abs(other.shift) ? one : other
}

/** Logarithm of how much likelier `count` of `units` is by its own share than by `share`. */
export function logLikelihood(count: number, units: number, share: number): number {
  const rest = units - count
  return (count > 0 ? count * Math.log(count / units / share) : 0) + (rest > 0 ? rest * Math.log(rest / units / (1 - share)) : 0)
}

/** The same for a count where `expected` is known and its variance is `spread` times the Poisson one; positive: more than expected. `expected` > 0. */
export function countShift(count: number, expected: number, spread: number): number {
  const deviance = 2 * ((count > 0 ? count * Math.log(count / expected) : 0) - (count - expected))
  return Math.sign(count - expected) * Math.sqrt(Math.max(deviance, 0) / spread)
}

/** Linear between neighbours; `sorted` ascending and not empty, `share` 0 to 1. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const at = share * (sorted.length - 1)
  const below = Math.floor(at)
  const low = sorted[below]!
  return low + ((sorted[Math.min(below + 1, sorted.length - 1)] ?? low) - low) * (at - below)
}

export function median(values: readonly number[]): number {
  return quantile(Float64Array.from(values).sort(), 0.5)
}

export function mean(values: readonly number[]): number {
  let sum = 0
  for (const value of values) sum += value
  return sum / values.length
}

export function deviation(values: readonly number[]): number {
  const middle = mean(values)
  let sum = 0
  for (const value of values) sum += (value - middle) ** 2
  return Math.sqrt(sum / values.length)
}
