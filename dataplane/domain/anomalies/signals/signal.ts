/** The signals beside the Z-score of rule scores, what one of them says, and from which strength on (Decisions 5). */

import type { Level } from '../../records/level.ts'

export type SignalName = 'pattern rate' | 'new pattern' | 'error share' | 'delay' | 'silence'

export interface SignalFinding {
  readonly signal: SignalName
  /** Comparable between signals: from `SPEAKS` on chance alone says it less often than the budget of false alarms allows. */
  readonly z: number
  /** `"reserve seat" in 0 of 12 visits, in 98 % before`. */
  readonly text: string
}

/** No signal speaks below it, however low the threshold of the engine is set. It is the default threshold. */
export const SPEAKS = 2.5

/** A finding shows in so many records: as many as make an incident. */
export const RECORDS_SHOWN = 3

/** False alarms that a service may make in an hour, all its signals together: one in a thousand hours. */
const FALSE_ALARMS_AN_HOUR = 0.001
/** Each time that a slot of half a minute closes. */
const JUDGEMENTS_AN_HOUR = 120

/** `limits[comparisons]`, as they are asked for. */
const limits: number[] = []

/** The deviations that chance alone reaches within the budget of false alarms, with so many comparisons each time (Bonferroni). */
export function limitFor(comparisons: number): number {
  limits[comparisons] ??= deviationsOf(Math.log(FALSE_ALARMS_AN_HOUR / JUDGEMENTS_AN_HOUR / comparisons))
  return limits[comparisons]
}

/** `SPEAKS` at the limit, and in proportion. */
export function zOf(strength: number, comparisons: number): number {
  return Math.round((strength / limitFor(comparisons)) * SPEAKS * 10_000) / 10_000
}

/** Deviations of a normal distribution beyond which its upper tail is so small; 0 for tails of more than 1 %, of which nobody asks. */
export function deviationsOf(logTail: number): number {
  if (logTail > Math.log(0.01)) return 0
  const rest = -2 * logTail - Math.log(2 * Math.PI)
  return Math.sqrt(rest - Math.log(rest - Math.log(rest)))
}

/** Fields of a record that signals look at. */
export interface SignalFields {
  /** Event time, ms since the epoch. */
  readonly timeMs: number
  /** DEBUG and TRACE do not come. */
  readonly level: Level
  /** Hash of trace and span; 0 without a trace. */
  readonly visitHash: number
  /** Hash of the pattern; equal patterns have equal hashes. */
  readonly patternHash: number
  /** As it stands in JSON, its bytes as latin1: mostly it is not looked at. */
  readonly pattern: string
}
