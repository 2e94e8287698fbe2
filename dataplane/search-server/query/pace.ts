/** Lets other work run between the steps of a long query, and says when its time is over. */
import type { Clock } from '../../ports/clock.ts'

export interface Pace {
  /** Resolves to false when the query's time is over; cheap when called often. */
  step(): Promise<boolean>
  /** Whether it is time for a step. */
  isDue(): boolean
  readonly isTimedOut: boolean
}

/** Longest a query may run, ms; a search then answers with what it has, `timed_out` true. */
export const QUERY_BUDGET_MS = 30_000

/** How long a query may hold the thread, ms. */
const SLICE_MS = 8

export function createPace(clock: Clock, budgetMs: number): Pace {
  const deadlineMs = clock.nowMs() + budgetMs
  let sliceEnd = performance.now() + SLICE_MS
  let isTimedOut = false
  return {
    get isTimedOut() {
      return isTimedOut
    },
    isDue: () => performance.now() >= sliceEnd,
    async step() {
      if (performance.now() < sliceEnd) return !isTimedOut
      await new Promise<void>(resolve => setImmediate(resolve))
      sliceEnd = performance.now() + SLICE_MS
      if (clock.nowMs() > deadlineMs) isTimedOut = true
      return !isTimedOut
    },
  }
}
