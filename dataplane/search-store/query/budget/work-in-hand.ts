/** The time of work that cannot be interrupted. Code that may take long within one document reports its work, and ends when the query's time is over. */

/** The query that the work is for has no time left. */
export class TimeIsOver extends Error {
  constructor() {
    super('the time of the query is over')
    this.name = 'TimeIsOver'
  }
}

/** Units of work between two looks at the clock: a few milliseconds. */
const UNITS_PER_LOOK = 500_000

let endMs = Number.POSITIVE_INFINITY
let units = 0

/** Runs the work. Work that it reports after `end` (on the clock of `performance.now`) throws `TimeIsOver`. */
export function endWorkAt<T>(end: number, work: () => T): T {
  const before = endMs
  endMs = end
  try {
    return work()
  } finally {
    endMs = before
  }
}

/** `count`: characters looked at, tokens compared and the like. */
export function spendWork(count: number): void {
  units += count
  if (units < UNITS_PER_LOOK) return
  units = 0
  if (performance.now() > endMs) throw new TimeIsOver()
}
