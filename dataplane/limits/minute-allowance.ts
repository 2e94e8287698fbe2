const MINUTE_MS = 60_000

/** So many a minute: they come evenly, and those of a minute are kept at most. Full at the start. */
export class MinuteAllowance {
  readonly #perMinute: number
  #left: number
  #atMs: number

  constructor(perMinute: number, nowMs: number) {
    this.#perMinute = perMinute
    this.#left = perMinute
    this.#atMs = nowMs
  }

  /** Takes as many as there are, at most `wanted`; how many that is. A clock that is set back gives nothing, and takes nothing away. */
  take(wanted: number, nowMs: number): number {
    const come = (Math.max(0, nowMs - this.#atMs) / MINUTE_MS) * this.#perMinute
    this.#left = Math.min(this.#perMinute, this.#left + come)
    this.#atMs = nowMs
    const taken = Math.min(wanted, Math.floor(this.#left))
    this.#left -= taken
    return taken
  }
}
