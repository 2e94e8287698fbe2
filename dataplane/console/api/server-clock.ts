/** The time of the server, by which records, incidents and silences go: the clock of this computer may be wrong, and its last 15 minutes another time. */

export interface TimedAnswer {
  /** The server's time in the answer, whole seconds, ms since the epoch. */
  readonly dateMs: number
  /** When it was asked and when the answer was there, by this computer. */
  readonly sentMs: number
  readonly receivedMs: number
}

/** Clocks that differ by less are one. */
const TOLERANCE_MS = 5_000

/** How far the server is ahead, by an answer, ms; `known` as long as that may be so. */
export function offsetBy({ dateMs, sentMs, receivedMs }: TimedAnswer, known: number): number {
  const least = dateMs - receivedMs
  const most = dateMs + 1_000 - sentMs
  // NaN fits as well.
  return known < least - TOLERANCE_MS || known > most + TOLERANCE_MS ? Math.round((least + most) / 2) : known
}

let offsetMs = 0
const listeners = new Set<() => void>()

/** Only answers of the dashboard itself: back ends have clocks of their own, and the time would jump. */
export function noteServerTime(answer: TimedAnswer): void {
  const next = offsetBy(answer, offsetMs)
  if (next === offsetMs) return
  offsetMs = next
  for (const each of listeners) each()
}

export const serverNow = (): number => Date.now() + offsetMs

/** How far the server is ahead of this computer, ms. */
export const clockOffset = (): number => offsetMs

/** Returns the end of the listening. */
export function onClockChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
