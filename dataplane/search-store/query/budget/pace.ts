/** Lets other work run between the steps of a long query, and says when its time is over. */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../../ports/clock.ts'
import { endWorkAt, TimeIsOver } from './work-in-hand.ts'

/** Shares a thread among queries, which take turns on it. */
export interface QueryTurns {
  /** Resolves when the next turn begins; rejects with the reason when the query is to end. */
  next(): Promise<void>
}

/** Other work on the event loop runs in between. */
export const LOOP_TURNS: QueryTurns = { next: setImmediate<void> }

export interface Pace {
  /** Resolves to false when the query's time is over; cheap when called often. */
  step(): Promise<boolean>
  /** Whether it is time for a step. */
  isDue(): boolean
  /** The same for work in many small pieces, to be asked before each of them: looks at the clock as seldom as their length allows. */
  isDueSoon(): boolean
  /** Runs one piece of work, which ends early when the query's time is over; then undefined. */
  run<T>(work: () => T): T | undefined
  readonly isTimedOut: boolean
}

/** Longest a query may run from its arrival, ms; a search then answers with the hits found so far, `timed_out` true. */
export const QUERY_BUDGET_MS = 30_000

/** Hits that were found may take so long beyond that to be shown, ms. */
export const SHOW_MS = 4_000

/** How long a query may hold the thread, ms. */
const SLICE_MS = 8

/** Pieces of work between two looks at the clock, at most. */
const MAX_STRIDE = 64

/** `budgetMs` below 0: its time is over from the beginning. */
export function createPace(clock: Pick<Clock, 'nowMs'>, budgetMs: number, turns: QueryTurns = LOOP_TURNS): Pace {
  const deadlineMs = clock.nowMs() + budgetMs
  const endMs = performance.now() + budgetMs
  let sliceEnd = performance.now() + SLICE_MS
  let isTimedOut = budgetMs < 0
  let stride = 1
  let untilLook = 1
  let lastLook = performance.now()
  return {
    get isTimedOut() {
      return isTimedOut
    },
    isDue: () => performance.now() >= sliceEnd,
    isDueSoon() {
      if (--untilLook > 0) return false
      const now = performance.now()
      // So many pieces as take about an eighth of a slice.
      stride = now - lastLook > SLICE_MS / 8 ? Math.max(1, stride >> 1) : Math.min(MAX_STRIDE, stride * 2)
      untilLook = stride
      lastLook = now
      return now >= sliceEnd
    },
    run(work) {
      try {
        return endWorkAt(endMs, work)
      } catch (error) {
        if (!(error instanceof TimeIsOver)) throw error
        isTimedOut = true
        return undefined
      }
    },
    async step() {
      if (performance.now() < sliceEnd) return !isTimedOut
      await turns.next()
      lastLook = performance.now()
      sliceEnd = lastLook + SLICE_MS
      if (clock.nowMs() > deadlineMs) isTimedOut = true
      return !isTimedOut
    },
  }
}
