/** Root cause from the search store: reads a window and the time before, and asks the rules (Decisions 6). */
import type { Incident } from '../../domain/incidents/incident-fields.ts'
import { rankCauses } from '../../domain/root-cause/find-root-cause.ts'
import { findRootCauseFromStarts, INCIDENT_LEADS_MS } from '../../domain/root-cause/incident-start.ts'
import type { CauseRanking } from '../../domain/root-cause/ranking.ts'
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
  /** The time before the window. */
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
export function analyse(store: SearchStore, { atMs, ...request }: AnalysisRequest): Promise<Analysis> {
  return analyseFrom(store, { startsMs: [atMs], ...request })
}

/** As `analyse`, for several incidents of one time: `causeOf` makes the cause of each. */
export async function rankCausesAt(store: SearchStore, { tenant, atMs, nowMs }: AnalysisRequest): Promise<CauseRanking> {
  const { observations } = await readPeriod(store, { tenant, startsMs: [atMs], nowMs })
  return await runInTurns(rankCauses({ observations, atMs }))
}

/**
 * The cause of an incident, out of what is stored at `nowMs`. The window begins a little before the first anomaly: 10 seconds, one or three minutes, whichever
 * shows the fault best (README of `domain/root-cause`). Asked again later it has seen more, up to three minutes.
 */
export function analyseIncident(
  store: SearchStore,
  { tenantId, firstSeen }: Pick<Incident, 'tenantId' | 'firstSeen'>,
  nowMs: number,
): Promise<Analysis> {
  const firstMs = Date.parse(firstSeen)
  return analyseFrom(store, {
    tenant: tenantId,
    startsMs: INCIDENT_LEADS_MS.map(leadMs => firstMs - leadMs),
    // A sender's clock may be ahead of ours.
    nowMs: Math.max(nowMs, firstMs + 1),
  })
}

type StartsRequest = Omit<AnalysisRequest, 'atMs'> & { readonly startsMs: readonly number[] }

async function analyseFrom(store: SearchStore, request: StartsRequest): Promise<Analysis> {
  const { startsMs, nowMs, services } = request
  const { fromMs, observations } = await readPeriod(store, request)
  const { atMs, rootCause } = await runInTurns(findRootCauseFromStarts({ observations, startsMs, windowMs: WINDOW_MS, services }))
  return { at: isoTime(atMs), window: span(atMs, Math.min(atMs + WINDOW_MS, nowMs)), baseline: span(fromMs, atMs), rootCause }
}

/** Records of the windows that begin at `startsMs`, and of the time before the first of them. */
async function readPeriod(store: SearchStore, { tenant, startsMs, nowMs }: Omit<StartsRequest, 'services'>) {
  const earliestMs = Math.min(...startsMs)
  const toMs = Math.min(Math.max(...startsMs) + WINDOW_MS, nowMs)
  const fromMs = await baselineStart(store, { tenant, atMs: earliestMs, toMs })
  return { fromMs, observations: await readObservations(store, { tenant, fromMs, atMs: earliestMs, toMs }) }
}

function span(fromMs: number, toMs: number): TimeSpan {
  return { from: isoTime(fromMs), to: isoTime(toMs) }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
