/** Where the window of an incident begins: its first anomaly comes seconds or minutes after its fault (Decisions 6). */
import { type Question, rankSystem } from './find-root-cause.ts'
import { orderRecords, recordsBefore, splitAt } from './observed/observed-system.ts'
import type { CauseRanking } from './ranking.ts'

/** A window reaches at least so far beyond the last of the starts: it holds the first anomaly, and records of its service, wherever it begins. */
const LEAST_REACH_MS = 30_000

export interface StartsQuestion extends Pick<Question, 'observations'> {
  /** Where the window may begin, ms since the epoch; not empty. */
  readonly startsMs: readonly number[]
  /** Length of a window that begins there. */
  readonly windowMs: number
}

/** The ranking from that start on where the strongest evidence is strongest; of equal ones the first of `startsMs`. */
export function* rankFromStarts({ startsMs, windowMs, observations }: StartsQuestion): Generator<void, CauseRanking> {
  const leastToMs = Math.max(...startsMs) + Math.min(LEAST_REACH_MS, windowMs)
  // Starts have the order of the records and their statements in common.
  const ordered = yield* orderRecords(observations)
  let best: CauseRanking | undefined
  for (const atMs of startsMs) {
    const toMs = Math.max(atMs + windowMs, leastToMs)
    const system = yield* splitAt(yield* recordsBefore(ordered, toMs), atMs)
    const ranking = yield* rankSystem(system)
    if (best === undefined || strongest(ranking) > strongest(best)) best = ranking
    yield
  }
  return best!
}

/** A new service is there whenever its window begins: it tells nothing of when the fault did. */
function strongest({ candidates, natureOf }: CauseRanking): number {
  return Math.max(0, ...candidates.map(({ service, score }) => (natureOf(service) === 'newcomer' ? 0 : score)))
}
