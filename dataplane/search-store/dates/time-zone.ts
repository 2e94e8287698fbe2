/** Time zones: `Z`, fixed offsets such as `+02:00`, and names such as `Europe/Berlin`. */
import { illegalArgument } from '../api-error.ts'

export interface TimeZone {
  /** As the client wrote it. */
  readonly name: string
  /** Undefined when the offset changes through the year. */
  readonly fixedOffsetMs: number | undefined
  /** Local time minus UTC at an instant. */
  offsetMs(utcMs: number): number
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

function fixed(name: string, offsetMs: number): TimeZone {
  return { name, fixedOffsetMs: offsetMs, offsetMs: () => offsetMs }
}

export const UTC: TimeZone = fixed('Z', 0)

export function parseTimeZone(text: string): TimeZone {
  if (text === 'Z' || text === 'UTC' || text === 'GMT') return fixed(text, 0)
  const match = /^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$/.exec(text)
  if (match === null) return namedZone(text)
  const offset = Number(match[2]) * HOUR_MS + Number(match[3] ?? 0) * MINUTE_MS
  if (offset > 18 * HOUR_MS) throw illegalArgument(`time zone [${text}] lies outside -18:00 to +18:00`)
  return fixed(text, match[1] === '-' ? -offset : offset)
}

/** Offsets change on quarter hours at the earliest, so that one look-up serves fifteen minutes. */
const CACHE_STEP_MS = 15 * MINUTE_MS
const CACHE_LIMIT = 50_000

function namedZone(name: string): TimeZone {
  const format = zoneFormat(name)
  const cache = new Map<number, number>()
  const offsetMs = (utcMs: number): number => {
    const step = Math.floor(utcMs / CACHE_STEP_MS)
    const known = cache.get(step)
    if (known !== undefined) return known
    if (cache.size >= CACHE_LIMIT) cache.clear()
    const offset = offsetAt(format, step * CACHE_STEP_MS)
    cache.set(step, offset)
    return offset
  }
  return { name, fixedOffsetMs: undefined, offsetMs }
}

function zoneFormat(name: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      era: 'short',
    })
  } catch (cause) {
    if (cause instanceof RangeError) throw illegalArgument(`Unknown time-zone ID: ${name}`)
    throw cause
  }
}

function offsetAt(format: Intl.DateTimeFormat, utcMs: number): number {
  const parts: Record<string, string> = {}
  for (const part of format.formatToParts(utcMs)) parts[part.type] = part.value
  const year = parts['era'] === 'BC' ? 1 - Number(parts['year']) : Number(parts['year'])
  const local = utcOf(
    year,
    Number(parts['month']),
    Number(parts['day']),
    Number(parts['hour']),
    Number(parts['minute']),
    Number(parts['second']),
    0,
  )
  return local - Math.floor(utcMs / 1000) * 1000
}

/** Like `Date.UTC`, with months from 1 and no special years below 100. */
export function utcOf(year: number, month: number, day: number, hour: number, minute: number, second: number, ms: number): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second, ms)
  return date.getTime()
}

/** The instant whose local time reads `localMs`; in a gap or overlap, the one by the offset before the change. */
export function localToUtc(localMs: number, zone: TimeZone): number {
  if (zone.fixedOffsetMs !== undefined) return localMs - zone.fixedOffsetMs
  const guess = localMs - zone.offsetMs(localMs)
  const early = localMs - zone.offsetMs(guess - 12 * HOUR_MS)
  if (early + zone.offsetMs(early) === localMs) return early
  return localMs - zone.offsetMs(guess)
}
