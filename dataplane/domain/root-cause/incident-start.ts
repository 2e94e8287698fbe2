/** When the fault behind an incident began: its first anomaly comes seconds or minutes later (Decisions 6). */
import { findRootCause, type Question } from './find-root-cause.ts'
import type { RootCause } from './root-cause.ts'

/** How long before its first anomaly an incident's fault may have begun, ms. */
export const INCIDENT_LEADS_MS: readonly number[] = [10_000, 60_000, 180_000]

export interface StartsQuestion extends Omit<Question, 'atMs'> {
  /** Where the window may begin, ms since the epoch; not empty. */
  readonly startsMs: readonly number[]
  /** Length of a window that begins there. */
  readonly windowMs: number
}

/** The start from which on the strongest evidence is strongest, and what is found there. Of equal ones the first of `startsMs`. */
export function* findRootCauseFromStarts({
  startsMs,
  windowMs,
  observations,
  ...question
}: StartsQuestion): Generator<void, { readonly atMs: number; readonly rootCause: RootCause }> {
  let best: { readonly atMs: number; readonly rootCause: RootCause } | undefined
  for (const atMs of startsMs) {
    const ofStart = observations.filter(({ timeMs }) => timeMs < atMs + windowMs)
    const rootCause = yield* findRootCause({ ...question, observations: ofStart, atMs })
    if (best === undefined || scoreOf(rootCause) > scoreOf(best.rootCause)) best = { atMs, rootCause }
    yield
  }
  return best!
}

function scoreOf({ candidates }: RootCause): number {
  return Math.max(0, ...candidates.map(({ score }) => score))
}
