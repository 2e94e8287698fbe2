/** Calendar arithmetic in a time zone: rounding down to a unit, adding units. */
import { localToUtc, type TimeZone, utcOf } from './time-zone.ts'

export type CalendarUnit = 'year' | 'quarter' | 'month' | 'week' | 'day' | 'hour' | 'minute' | 'second'

export const UNIT_MS = { week: 604_800_000, day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1000 } as const

/** 1970-01-01 was a Thursday; weeks start on Monday. */
const MONDAY_MS = -3 * UNIT_MS.day

function floorLocal(localMs: number, unit: CalendarUnit): number {
  const date = new Date(localMs)
  switch (unit) {
    case 'year':
      return utcOf(date.getUTCFullYear(), 1, 1, 0, 0, 0, 0)
    case 'quarter':
      return utcOf(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / 3) * 3 + 1, 1, 0, 0, 0, 0)
    case 'month':
      return utcOf(date.getUTCFullYear(), date.getUTCMonth() + 1, 1, 0, 0, 0, 0)
    case 'week':
      return Math.floor((localMs - MONDAY_MS) / UNIT_MS.week) * UNIT_MS.week + MONDAY_MS
    default:
      return Math.floor(localMs / UNIT_MS[unit]) * UNIT_MS[unit]
  }
}

/** Start of the unit that holds the instant, as local clocks show it. */
export function floorToUnit(utcMs: number, unit: CalendarUnit, zone: TimeZone): number {
  const offset = zone.offsetMs(utcMs)
  const local = floorLocal(utcMs + offset, unit)
  // Short units are floored with the offset of the instant itself: an hour that a clock change repeats stays two hours.
  if (zone.fixedOffsetMs !== undefined || unit === 'hour' || unit === 'minute' || unit === 'second') return local - offset
  return localToUtc(local, zone)
}

const MONTHS: Partial<Record<CalendarUnit, number>> = { year: 12, quarter: 3, month: 1 }

/** Months are added by the calendar (Jan 31 + 1 month is the last of February), days keep the local time. */
export function addUnits(utcMs: number, amount: number, unit: CalendarUnit, zone: TimeZone): number {
  if (unit === 'hour' || unit === 'minute' || unit === 'second') return utcMs + amount * UNIT_MS[unit]
  const local = utcMs + zone.offsetMs(utcMs)
  const months = MONTHS[unit]
  if (months === undefined) return localToUtc(local + amount * UNIT_MS[unit as 'day' | 'week'], zone)
  const date = new Date(local)
  const month = date.getUTCFullYear() * 12 + date.getUTCMonth() + amount * months
  const year = Math.floor(month / 12)
  const monthOfYear = month - year * 12 + 1
  const day = Math.min(date.getUTCDate(), daysInMonth(year, monthOfYear))
  const timeOfDay = local - floorLocal(local, 'day')
  return localToUtc(utcOf(year, monthOfYear, day, 0, 0, 0, 0) + timeOfDay, zone)
}

export function daysInMonth(year: number, month: number): number {
  return new Date(utcOf(year, month + 1, 1, 0, 0, 0, 0) - 1).getUTCDate()
}

/** A day of 23 hours, a short month and so on are no shorter than half of these. */
export const LEAST_MS: Readonly<Record<CalendarUnit, number>> = {
  second: UNIT_MS.second,
  minute: UNIT_MS.minute,
  hour: UNIT_MS.hour,
  day: UNIT_MS.day,
  week: 7 * UNIT_MS.day,
  month: 30 * UNIT_MS.day,
  quarter: 90 * UNIT_MS.day,
  year: 365 * UNIT_MS.day,
}
