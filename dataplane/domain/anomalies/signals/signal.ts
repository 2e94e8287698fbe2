/** The signals beside the Z-score of rule scores, and what one of them says (Decisions 5). */

import type { Level } from '../../records/level.ts'

export type SignalName = 'pattern rate' | 'new pattern' | 'error share' | 'delay' | 'silence'

export interface Finding {
  readonly signal: SignalName
  /** Comparable between signals: `SPEAKS` and more is beyond what time without a fault shows. */
  readonly z: number
  /** `"reserve seat" in 0 of 12 visits, in 98 % before`. */
  readonly text: string
}

/** No signal speaks below it, however low the threshold of the engine is set. It is the default threshold. */
export const SPEAKS = 2.5

/**
 * A finding from here on is overwhelming: it shows in three records, as many as make an incident. Below it a service needs findings in several minutes,
 * or anomalies of other kinds beside.
 */
export const OVERWHELMING = 4
export const RECORDS_SHOWN = 3

/** The strength of each signal that is worth `SPEAKS` (README: Calibration). */
const LIMITS: Readonly<Record<SignalName, number>> = {
  'pattern rate': 6,
  'new pattern': 6,
  'error share': 6,
  delay: 6,
  silence: 6,
}

export function zOf(signal: SignalName, strength: number): number {
  return Math.round((strength / LIMITS[signal]) * SPEAKS * 10_000) / 10_000
}

/** Fields of a record that signals look at. */
export interface SignalFields {
  /** Event time, ms since the epoch. */
  readonly timeMs: number
  /** DEBUG and TRACE do not come. */
  readonly level: Level
  /** Of trace and span; 0 without a trace. */
  readonly visitHash: number
  /** Of the pattern; equal patterns have equal hashes. */
  readonly patternHash: number
  /** As it stands in JSON, its bytes as latin1: mostly it is not looked at. */
  readonly pattern: string
}
