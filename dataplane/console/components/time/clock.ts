/** The clock by which times are shown and read: that of the browser, or UTC, which tickets and records tell. The choice is kept in this browser. */
import { createKeptChoice } from '../kept-choice.ts'

const MINUTE_MS = 60_000

export const {
  get: showsUtc,
  set: showUtc,
  subscribe: subscribeClock,
} = createKeptChoice('logpipeline.clock', { yes: 'utc', no: 'browser' }, false)

/** How far the clock is ahead of UTC at a moment. */
export function clockOffsetMs(ms: number): number {
  return showsUtc() ? 0 : -new Date(ms).getTimezoneOffset() * MINUTE_MS
}

/** A date whose UTC fields are those that the clock shows at a moment. */
export function onClock(ms: number): Date {
  return new Date(ms + clockOffsetMs(ms))
}

/** The moment of a text such as `2026-10-25T02:30:07`; NaN for what is no time. */
export function momentOf(text: string): number {
  return Date.parse(showsUtc() ? `${text}Z` : text)
}

/** `Europe/Berlin` */
export function zoneName(): string {
  return showsUtc() ? 'UTC' : browserZone()
}

export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** `UTC`, `UTC+2`, `UTC−3:30`: of the clock at a moment. */
export function sayOffset(ms: number): string {
  const minutes = clockOffsetMs(ms) / MINUTE_MS
  if (minutes === 0) return 'UTC'
  const ofHour = Math.abs(minutes) % 60
  const hours = `${minutes < 0 ? '−' : '+'}${Math.floor(Math.abs(minutes) / 60)}`
  return `UTC${hours}${ofHour === 0 ? '' : `:${String(ofHour).padStart(2, '0')}`}`
}

/** How far the clock is from UTC at a moment, where it is put forward or back between the first and the last: one of its hours may come twice. */
export function sayOffsetWhereItChanges(ms: number, firstMs: number, lastMs: number): string | undefined {
  return clockOffsetMs(firstMs) === clockOffsetMs(lastMs) ? undefined : sayOffset(ms)
}
