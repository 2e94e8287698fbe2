/** Which hours `feature_compute` works on. An hour is named by its start, ms since the epoch. */

export const HOUR_MS = 3_600_000

/** How far ahead of its push the time of features may be: what speaks of a later time would stay until then. */
const MAX_AHEAD_MS = 24 * 3_600_000

export function isTooFarAhead(eventMs: number, nowMs: number): boolean {
  return eventMs > nowMs + MAX_AHEAD_MS
}

export function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS) * HOUR_MS
}

/** The newest UTC hour that is over. */
export function lastFullHour(nowMs: number): number {
  return hourOf(nowMs) - HOUR_MS
}

export interface HoursDone {
  /** The newest hour that was scheduled before; undefined: none. */
  readonly lastHourMs: number | undefined
  readonly nowMs: number
  /** After a pause, hours further back than this many are left out. */
  readonly maxHours: number
}

/** Full hours that are still to be computed, oldest first: at first the last one alone, after a pause also those that it left out. */
export function hoursToCompute({ lastHourMs, nowMs, maxHours }: HoursDone): readonly number[] {
  const newest = lastFullHour(nowMs)
  const next = lastHourMs === undefined ? newest : Math.max(lastHourMs + HOUR_MS, newest - (maxHours - 1) * HOUR_MS)
  const count = Math.max(0, (newest - next) / HOUR_MS + 1)
  return Array.from({ length: count }, (_, i) => next + i * HOUR_MS)
}
