/** Whether what an incident consists of is nothing new for its service (Decisions 6, `recurring`). */
import type { Anomaly } from '../anomalies/anomaly.ts'
import { countShift } from '../root-cause/statistics.ts'
import type { GroupedAnomaly } from './anomaly-window.ts'

const MINUTE_MS = 60_000
/** Longest and shortest baseline, ms: the records of the service before the incident. */
export const MAX_BASELINE_MS = 24 * 60 * MINUTE_MS
export const MIN_BASELINE_MS = 10 * MINUTE_MS
/** The baseline in equal parts. A pattern that came throughout came in all of them but one, nowhere at less than a quarter of its usual rate. */
export const BASELINE_PARTS = 6
const PARTS_WITHOUT = 1
const LEAST_OF_MEAN = 0.25
/** Deviations that the rate may lie above the baseline's. */
const LIKE_RATE = 3

export interface RecurrenceBaseline {
  readonly fromMs: number
  readonly toMs: number
  /** By pattern id: its records in each part of the baseline. A pattern that was asked for and never came has none. */
  readonly counts: ReadonlyMap<string, readonly number[]>
}

type Member = Pick<GroupedAnomaly, 'pattern_id' | 'timestamp'> & Pick<Anomaly, 'signal'>

/** An anomaly of a signal is never recurring: a signal tells of news. Of other anomalies each pattern must have come throughout the baseline, at a like rate. */
export function isRecurring(members: readonly Member[], baseline: RecurrenceBaseline): boolean {
  if (members.some(({ signal }) => signal !== undefined) || baseline.toMs - baseline.fromMs < MIN_BASELINE_MS) return false
  const times = members.map(({ timestamp }) => Date.parse(timestamp))
  const spanMs = Math.max(Math.max(...times) - Math.min(...times), MINUTE_MS)
  const counts = new Map<string, number>()
  for (const { pattern_id } of members) counts.set(pattern_id, (counts.get(pattern_id) ?? 0) + 1)
  return [...counts].every(([pattern, count]) => {
    const before = baseline.counts.get(pattern) ?? []
    return cameThroughout(before) && hasLikeRate(count, before, spanMs / (baseline.toMs - baseline.fromMs))
  })
}

function cameThroughout(before: readonly number[]): boolean {
  const mean = sum(before) / BASELINE_PARTS
  return mean > 0 && before.filter(count => count > 0 && count >= LEAST_OF_MEAN * mean).length >= BASELINE_PARTS - PARTS_WITHOUT
}

/** `share`: the incident's length of the baseline's. */
function hasLikeRate(count: number, before: readonly number[], share: number): boolean {
  const mean = sum(before) / BASELINE_PARTS
  const squares = before.reduce((all, each) => all + (each - mean) ** 2, 0)
  const spread = Math.max(1, squares / (BASELINE_PARTS - 1) / mean)
  return countShift(count, sum(before) * share, spread) <= LIKE_RATE
}

const sum = (counts: readonly number[]) => counts.reduce((all, each) => all + each, 0)
