/** Whether what an incident consists of is nothing new for its service (Decisions 6, `recurring`). */
import type { Anomaly } from '../anomalies/anomaly.ts'
import { countShift } from '../root-cause/detectors/statistics.ts'
import { areRegular } from '../time/regular-times.ts'
import type { GroupedAnomaly } from './anomaly-window.ts'
import type { Incident } from './incident-fields.ts'

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

/** Bursts, as a job of each hour makes them, are looked for in slices of this length, ms. */
export const SLICE_MS = MINUTE_MS
/** Slices between two bursts. */
const APART = 10
const MIN_BURSTS = 4
/** Slices by which gaps between bursts may differ, as each begins somewhere in its slice. */
const GAP_JITTER = 2

export interface RecurrenceBaseline {
  readonly fromMs: number
  readonly toMs: number
  /** By pattern id: its records in each part of the baseline. A pattern that was asked for and never came has none. */
  readonly counts: ReadonlyMap<string, readonly number[]>
  /** By pattern id, for patterns that may come in bursts: its records by the start of their slice, ms. Absent: they were not read. */
  readonly slices?: ReadonlyMap<string, ReadonlyMap<number, number>>
}

type Member = Pick<GroupedAnomaly, 'pattern_id' | 'timestamp'> & Pick<Anomaly, 'signal'>

/** The incident before it took in `members`. */
export type IncidentBefore = Pick<Incident, 'firstSeen' | 'lastSeen' | 'evidence'>

/**
 * An anomaly of a signal is never recurring: a signal tells of news. Of other anomalies each pattern must have come throughout the baseline, at a like
 * rate, or in regular bursts, none much smaller than what the incident has of it.
 */
export function isRecurring(members: readonly Member[], baseline: RecurrenceBaseline, before?: IncidentBefore): boolean {
  if (members.some(({ signal }) => signal !== undefined) || baseline.toMs - baseline.fromMs < MIN_BASELINE_MS) return false
  return unusualPatterns(members, baseline, before).every(pattern => comesInBursts(pattern, members, baseline, before))
}

/** Patterns of members without a signal for which slices of the baseline would tell more: none where others are news in any case. */
export function burstPatterns(members: readonly Member[], baseline: RecurrenceBaseline, before?: IncidentBefore): readonly string[] {
  const unusual = unusualPatterns(members, baseline, before)
  return unusual.every(pattern => mayComeInBursts(baseline.counts.get(pattern) ?? [])) ? unusual : []
}

/** Patterns of the members that did not come throughout the baseline at a like rate. What the incident had of them before counts, too. */
function unusualPatterns(members: readonly Member[], baseline: RecurrenceBaseline, before?: IncidentBefore): readonly string[] {
  const times = timesOf(members, before)
  const spanMs = Math.max(Math.max(...times) - Math.min(...times), MINUTE_MS)
  const isUsual = (pattern: string) => {
    const counts = baseline.counts.get(pattern) ?? []
    return cameThroughout(counts) && hasLikeRate(countOf(pattern, members, before), counts, spanMs / (baseline.toMs - baseline.fromMs))
  }
  return [...new Set(members.map(({ pattern_id }) => pattern_id))].filter(pattern => !isUsual(pattern))
}

/** Times of members and of the incident before them, ms. */
function timesOf(members: readonly Member[], before: IncidentBefore | undefined): readonly number[] {
  const times = [...members.map(({ timestamp }) => timestamp), ...(before === undefined ? [] : [before.firstSeen, before.lastSeen])]
  return times.map(time => Date.parse(time))
}

function countOf(pattern: string, members: readonly Member[], before: IncidentBefore | undefined): number {
  const known = before?.evidence.find(({ patternId }) => patternId === pattern)?.count ?? 0
  return known + members.filter(({ pattern_id }) => pattern_id === pattern).length
}

function mayComeInBursts(counts: readonly number[]): boolean {
  return sum(counts) >= MIN_BURSTS && counts.filter(count => count > 0).length >= BASELINE_PARTS - PARTS_WITHOUT
}

interface Burst {
  /** Slices. */
  readonly from: number
  readonly to: number
  readonly count: number
}

/** At regular times throughout the baseline; the incident has no more of it, and lasts no longer, than one of these bursts. */
function comesInBursts(pattern: string, members: readonly Member[], baseline: RecurrenceBaseline, incident?: IncidentBefore): boolean {
  if (!mayComeInBursts(baseline.counts.get(pattern) ?? [])) return false
  const earlier = [...(baseline.slices?.get(pattern) ?? [])].map(([startMs, count]) => burstAt(startMs, startMs, count))
  const times = timesOf(members, incident)
  const bursts = joined([...earlier, burstAt(Math.min(...times), Math.max(...times), countOf(pattern, members, incident))])
  const now = bursts.pop()!
  if (
    bursts.length < MIN_BURSTS ||
    !areRegular(
      [...bursts, now].map(({ from }) => from),
      GAP_JITTER,
    )
  )
    return false
  const largest = Math.max(...bursts.map(({ count }) => count))
  const longest = Math.max(...bursts.map(({ from, to }) => to - from))
  return now.count <= largest + LIKE_RATE * Math.sqrt(largest) && now.to - now.from <= longest + 1
}

const burstAt = (fromMs: number, toMs: number, count: number): Burst => ({
  ...{ from: Math.floor(fromMs / SLICE_MS), to: Math.floor(toMs / SLICE_MS), count },
})

/** Bursts in the order of time, those that lie near each other as one. */
function joined(bursts: readonly Burst[]): Burst[] {
  const all: Burst[] = []
  for (const burst of bursts.toSorted((a, b) => a.from - b.from)) {
    const last = all.at(-1)
    if (last === undefined || burst.from - last.to >= APART) all.push(burst)
    else all[all.length - 1] = { from: last.from, to: Math.max(last.to, burst.to), count: last.count + burst.count }
  }
  return all
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
