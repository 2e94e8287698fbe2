/** Share of a period that jitter may take up: where it is more, any times look regular. */
const MOST_JITTER = 1 / 12

/**
 * Whether times, in ascending order, lie a period apart, or a few of it: something may be left out now and then. `jitter`: by how much two gaps of one
 * period may differ. Three times at least.
 */
export function areRegular(times: readonly number[], jitter: number): boolean {
  if (times.length < 3) return false
  const gaps = times.slice(1).map((time, at) => time - times[at]!)
  const period = Math.min(...gaps)
  return gaps.every(gap => {
    const periods = Math.round(gap / period)
    return Math.abs(gap - periods * period) <= jitter * periods && jitter * periods <= MOST_JITTER * period
  })
}
