/** Date math: `now-1h/d`, `2026-11-21||+1M`. */
import { ApiError } from '../api-error.ts'
import { addUnits, type CalendarUnit, floorToUnit } from './calendar.ts'
import { type DateFormat, DEFAULT_DATE_FORMAT } from './date-format.ts'
import { type TimeZone, UTC } from './time-zone.ts'

export interface DateMathContext {
  readonly nowMs: number
  readonly zone?: TimeZone
  readonly format?: DateFormat
  /** Missing parts and rounding go to the last instant (for `lte` and `gt`), not the first. */
  readonly roundUp?: boolean
}

const UNITS: Readonly<Record<string, CalendarUnit>> = {
  y: 'year',
  M: 'month',
  w: 'week',
  d: 'day',
  h: 'hour',
  H: 'hour',
  m: 'minute',
  s: 'second',
}

/** Longest expression, characters: its steps are taken one by one. */
const MAX_LENGTH = 1000

function unreadable(text: string, why: string): ApiError {
  return new ApiError(400, 'parse_exception', `failed to parse date field [${text}]${why}`)
}

/** Milliseconds since the epoch. Throws 400 for text that is no date. */
export function parseDateMath(text: string, context: DateMathContext): number {
  if (text.length > MAX_LENGTH) throw unreadable(`${text.slice(0, MAX_LENGTH)}…`, `: it is longer than ${MAX_LENGTH} characters`)
  const zone = context.zone ?? UTC
  const roundUp = context.roundUp ?? false
  if (text.startsWith('now')) return applyMath(context.nowMs, text.slice(3), text, zone, roundUp)
  const at = text.indexOf('||')
  const math = at < 0 ? '' : text.slice(at + 2)
  const format = context.format ?? DEFAULT_DATE_FORMAT
  const anchor = format.parse(at < 0 ? text : text.slice(0, at), math === '' && roundUp, zone)
  if (anchor === undefined) throw unreadable(text, ` with format [${format.name}]`)
  return applyMath(anchor, math, text, zone, roundUp)
}

function applyMath(startMs: number, math: string, text: string, zone: TimeZone, roundUp: boolean): number {
  let ms = startMs
  let at = 0
  const step = /([+-])(\d{0,9})([yMwdhHms])|\/(\d{0,9})([yMwdhHms])/y
  while (at < math.length) {
    step.lastIndex = at
    const match = step.exec(math)
    if (match === null) throw unreadable(text, `: operator not supported for date math [${math.slice(at)}]`)
    at += match[0].length
    if (match[5] !== undefined) {
      if (match[4] !== '' && match[4] !== '1') throw unreadable(text, ': rounding `/` can only be used on single unit types')
      const unit = UNITS[match[5]]!
      const start = floorToUnit(ms, unit, zone)
      ms = roundUp ? addUnits(start, 1, unit, zone) - 1 : start
    } else {
      const amount = match[2] === '' ? 1 : Number(match[2])
      ms = addUnits(ms, match[1] === '-' ? -amount : amount, UNITS[match[3]!]!, zone)
    }
    if (!Number.isFinite(ms) || Math.abs(ms) > 8.64e15) throw unreadable(text, ': the result lies outside the calendar')
  }
  return ms
}
