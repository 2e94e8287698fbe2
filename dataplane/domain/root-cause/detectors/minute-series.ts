/** Counts of something by minutes of the baseline, which come in order, and in the window (Decisions 6). */

/** Minutes of Poisson spread that are taken for granted. */
const PRIOR_MINUTES = 3

export class MinuteSeries {
  /** In the baseline. */
  total = 0
  inWindow = 0
  #squares = 0
  #minute = Number.NaN
  #ofMinute = 0

  addBefore(minute: number): void {
    if (minute !== this.#minute) this.#ofMinute = 0
    this.#minute = minute
    // The square of a count is the sum of the odd numbers up to it.
    this.#squares += 2 * this.#ofMinute + 1
    this.#ofMinute++
    this.total++
  }

  /** Variance over mean of a minute, at least 1 (Poisson). */
  spread(minutes: number): number {
    const usual = this.total / minutes
    if (usual === 0) return 1
    const deviations = (this.#squares - minutes * usual * usual) / usual
    return Math.max(1, (deviations + PRIOR_MINUTES) / (minutes - 1 + PRIOR_MINUTES))
  }
}
