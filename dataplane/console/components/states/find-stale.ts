/** Whether the page shows old answers: readings that repeat, and got no answer for longer than they should. */
import type { MissingParts } from '../../api/missing-parts.ts'
import { needsLogin, problemOf } from '../../api/problem.ts'

/** So much later than planned an answer may come. */
const GRACE_MS = 10_000

/** A reading of the page, as the cache of queries has it. */
export interface Reading {
  /** Time of the last answer, ms since the epoch; 0: there was none. */
  readonly answeredMs: number
  /** How often it is read; undefined: once. */
  readonly everyMs: number | undefined
  /** The latest failure since the last answer. */
  readonly error: unknown
  /** Parts of the store that the answer lacks. */
  readonly missing?: MissingParts | undefined
}

export interface Stale {
  /** The oldest answer that is shown. */
  readonly answeredMs: number
  /** In words; undefined: no answer and no failure so far. */
  readonly reason: string | undefined
  /** The session has ended: no answer comes by itself. */
  readonly needsLogin: boolean
}

/** Undefined: all that repeats was answered in its time. Readings without any answer say so themselves. */
export function findStale(readings: readonly Reading[], nowMs: number): Stale | undefined {
  const late = readings.filter(
    ({ answeredMs, everyMs }) => everyMs !== undefined && answeredMs > 0 && nowMs - answeredMs > everyMs + GRACE_MS,
  )
  if (late.length === 0) return undefined
  const failed = late.find(({ error }) => error !== null && error !== undefined)
  return {
    answeredMs: Math.min(...late.map(({ answeredMs }) => answeredMs)),
    reason: failed && sayReason(failed.error),
    needsLogin: failed !== undefined && needsLogin(problemOf(failed.error).status),
  }
}

/** With the next step where answers do not come back by themselves. */
function sayReason(error: unknown): string {
  const { message, status, whatToDo } = problemOf(error)
  return status === 401 || status === 403 ? `${message} ${whatToDo}` : message
}

/** In words; undefined: all answers are whole. The worst of several is told. */
export function sayMissing(readings: readonly Reading[]): string | undefined {
  const found = readings.flatMap(({ missing }) => missing ?? [])
  if (found.length === 0) return undefined
  const { failed, total } = found.reduce((worst, each) => (each.failed > worst.failed ? each : worst))
  return failed === 0 ? 'A search ran into the time limit of the store.' : `${failed} of ${total} parts of the store cannot be read.`
}

/** `45 s`, `3 min`, `2 h`. */
export function sayAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < 120) return `${seconds} s`
  return seconds < 7_200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3_600)} h`
}
