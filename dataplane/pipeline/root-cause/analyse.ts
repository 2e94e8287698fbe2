/** Root cause on demand: reads a window and the time before from the search store, and asks the rules (Decisions 6). */
import { findRootCause } from '../../domain/root-cause/find-root-cause.ts'
import type { RootCause } from '../../domain/root-cause/root-cause.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import { baselineStart, readObservations } from './read-observations.ts'
import { runInTurns } from './run-in-turns.ts'

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
  /** What lies before. */
  readonly baseline: TimeSpan
  readonly rootCause: RootCause
}

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
export async function analyse(store: SearchStore, { tenant, atMs, nowMs, services }: AnalysisRequest): Promise<Analysis> {
  const toMs = Math.min(atMs + WINDOW_MS, nowMs)
  const fromMs = await baselineStart(store, { tenant, atMs, toMs })
  const observations = await readObservations(store, { tenant, fromMs, atMs, toMs })
  const rootCause = await runInTurns(findRootCause({ observations, atMs, services }))
  return { at: isoTime(atMs), window: span(atMs, toMs), baseline: span(fromMs, atMs), rootCause }
}

function span(fromMs: number, toMs: number): TimeSpan {
  return { from: isoTime(fromMs), to: isoTime(toMs) }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
