/** Root cause from the search store: reads a window and the time before, and asks the rules (Decisions 6). */
import { findRootCause } from '../../domain/root-cause/find-root-cause.ts'
import { rankFromStarts } from '../../domain/root-cause/incident-start.ts'
import type { CauseRanking } from '../../domain/root-cause/ranking.ts'
import type { RootCause } from '../../domain/root-cause/root-cause.ts'
import { isoTime } from '../../domain/time/iso-time.ts'
import { runInTurns } from '../../limits/run-in-turns.ts'
import { type ErrorTextDeps, readErrorTexts } from './read-error-texts.ts'
import { baselineStart, MAX_OBSERVATIONS, type Period, readObservations } from './read-observations.ts'

/** How long after its time an analysis looks, ms. */
const WINDOW_MS = 180_000

/** ISO-8601 UTC; `to` is the first time that is not part of it. */
export interface TimeSpan {
  readonly from: string
  readonly to: string
}

export interface Analysis {
  readonly at: string
  /** At most 3 minutes from `at` on. */
  readonly window: TimeSpan
  /** The time before the window. */
  readonly baseline: TimeSpan
  readonly rootCause: RootCause
}

/** Where an analysis reads, and its clock. */
export type AnalysisDeps = ErrorTextDeps

export interface AnalysisRequest {
  readonly tenant: string
  /** Ms since the epoch, not in the future. */
  readonly atMs: number
  /** The present: the window ends here at the latest. */
  readonly nowMs: number
  /** Candidates are of these alone; empty or absent: all. */
  readonly services?: readonly string[] | undefined
}

/** Needs nothing but the search store; the same on OpenSearch and the embedded one. Lets others run meanwhile. Rejects with the store's errors. */
export async function analyse(deps: AnalysisDeps, { tenant, atMs, nowMs, services }: AnalysisRequest): Promise<Analysis> {
  const toMs = Math.min(atMs + WINDOW_MS, nowMs)
  const { fromMs, observations } = await readPeriod(deps, { tenant, atMs, toMs })
  const rootCause = await runInTurns(findRootCause({ observations, atMs, services }))
  return { at: isoTime(atMs), window: span(atMs, toMs), baseline: span(fromMs, atMs), rootCause }
}

export interface RankingRequest extends Pick<AnalysisRequest, 'tenant' | 'nowMs'> {
  /** Where the window may begin, ms since the epoch; not empty. */
  readonly startsMs: readonly number[]
  /** Records that are looked at, about; default: as many as an analysis may. */
  readonly most?: number
}

/** Out of what is stored now, for several incidents of one time: `causeOf` makes the cause of each. Asked again later it has seen more. */
export async function rankCausesFrom(deps: AnalysisDeps, { tenant, startsMs, nowMs, most }: RankingRequest): Promise<CauseRanking> {
  const toMs = Math.min(Math.max(...startsMs) + WINDOW_MS, nowMs)
  const { observations } = await readPeriod(deps, { tenant, atMs: Math.min(...startsMs), toMs }, most)
  return await runInTurns(rankFromStarts({ observations, startsMs, windowMs: WINDOW_MS }))
}

/** Records of a window, and of the time before it. */
async function readPeriod(deps: AnalysisDeps, window: Omit<Period, 'fromMs'>, most = MAX_OBSERVATIONS) {
  const fromMs = await baselineStart(deps.store, window)
  const observations = await readObservations(deps.store, { ...window, fromMs }, most)
  return { fromMs, observations: await readErrorTexts(deps, window, observations) }
}

function span(fromMs: number, toMs: number): TimeSpan {
  return { from: isoTime(fromMs), to: isoTime(toMs) }
}
