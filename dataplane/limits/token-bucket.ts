export interface Rate {
  readonly perSecond: number
  /** At once, after a pause. */
  readonly burst: number
}

/** A rate of `count` a minute, all of which may come at once. */
export const perMinute = (count: number): Rate => ({ perSecond: count / 60, burst: count })

/** So many a second, evenly, and a few at once. Full at the start. */
export class TokenBucket {
  readonly #rate: Rate
  #left: number
  #atMs: number

  constructor(rate: Rate, nowMs: number) {
    this.#rate = rate
    this.#left = rate.burst
    this.#atMs = nowMs
  }

  /** How many may be taken now. A clock that is set back gives nothing, and takes nothing away. */
  left(nowMs: number): number {
    const come = (Math.max(0, nowMs - this.#atMs) / 1_000) * this.#rate.perSecond
    this.#left = Math.min(this.#rate.burst, this.#left + come)
    this.#atMs = nowMs
    return Math.floor(this.#left)
  }

  /** False when there is none. */
  take(nowMs: number): boolean {
    if (this.left(nowMs) < 1) return false
    this.#left--
    return true
  }

  /** Takes as many as there are, at most `wanted`, and returns their number. */
  takeUpTo(wanted: number, nowMs: number): number {
    const taken = Math.min(wanted, this.left(nowMs))
    this.#left -= taken
    return taken
  }

  /** As if all had just been taken. */
  empty(nowMs: number): void {
    this.#left = 0
    this.#atMs = nowMs
  }

  /** One was not used. */
  giveBack(): void {
    this.#left = Math.min(this.#rate.burst, this.#left + 1)
  }
}
