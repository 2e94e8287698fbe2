/** Lets other work run between the steps of a long query, and says when its time is over. */
import type { Clock } from '../../ports/clock.ts'

/** Shares a thread among those who take turns on it. */
export interface QueryTurns {
  /** Resolves when the next turn begins; rejects with the reason when the query is to end. */
  next(): Promise<void>
}

/** Whoever else has work on the event loop comes in between. */
export const LOOP_TURNS: QueryTurns = { next: () => new Promise(resolve => setImmediate(resolve)) }

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

export function createPace(clock: Pick<Clock, 'nowMs'>, budgetMs: number, turns: QueryTurns = LOOP_TURNS): Pace {
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
      await turns.next()
      sliceEnd = performance.now() + SLICE_MS
      if (clock.nowMs() > deadlineMs) isTimedOut = true
      return !isTimedOut
    },
  }
}
