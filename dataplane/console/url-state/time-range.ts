/** The time that a page looks at, the same on all pages: `range=15m` up to now, or `from` and `to` in ISO-8601. */

import { formatClock, formatDay } from '../components/format.ts'
import { clockOffsetMs, momentOf, onClock, sayOffset } from '../components/time/clock.ts'
import { parseDuration, sayDuration } from './duration.ts'

export type TimeRange =
  | { readonly kind: 'relative'; readonly text: string; readonly ms: number }
  | { readonly kind: 'absolute'; readonly fromMs: number; readonly toMs: number }

/** Times in ms since the epoch; `toMs` is not within it. */
export interface TimeWindow {
  readonly fromMs: number
  readonly toMs: number
}

export const DEFAULT_RANGE: TimeRange = { kind: 'relative', text: '1h', ms: 3_600_000 }
/** The parameters that hold it. */
export const RANGE_PARAMETERS = ['range', 'from', 'to'] as const

export function parseTimeRange(search: string, usual = DEFAULT_RANGE): TimeRange {
  const parameters = new URLSearchParams(search)
  const fromMs = Date.parse(parameters.get('from') ?? '')
  const toMs = Date.parse(parameters.get('to') ?? '')
  return absoluteRange(fromMs, toMs) ?? relativeRange(parameters.get('range') ?? '') ?? usual
}

/** Records are of 1970 to 2554. The time before a range has years of four digits, too, which the store asks for. */
const EARLIEST_MS = Date.UTC(1900, 0)
const LATEST_MS = Date.UTC(2600, 0)

/** Undefined for an end that is not behind the start, and for times that no record has. */
export function absoluteRange(fromMs: number, toMs: number): TimeRange | undefined {
  return fromMs < toMs && fromMs >= EARLIEST_MS && toMs <= LATEST_MS ? { kind: 'absolute', fromMs, toMs } : undefined
}

export function relativeRange(text: string): TimeRange | undefined {
  const ms = parseDuration(text)
  return ms === undefined ? undefined : { kind: 'relative', text: text.trim().replace(/\s/g, '').toLowerCase(), ms }
}

/** The search part of the URL with this range in it. */
export function writeTimeRange(search: string, range: TimeRange, usual = DEFAULT_RANGE): string {
  const parameters = new URLSearchParams(search)
  for (const name of RANGE_PARAMETERS) parameters.delete(name)
  if (range.kind === 'absolute') {
    parameters.set('from', new Date(range.fromMs).toISOString())
    parameters.set('to', new Date(range.toMs).toISOString())
  } else if (!(usual.kind === 'relative' && range.text === usual.text)) parameters.set('range', range.text)
  const written = parameters.toString()
  return written === '' ? '' : `?${written}`
}

export function windowOf(range: TimeRange, nowMs: number): TimeWindow {
  return range.kind === 'absolute' ? { fromMs: range.fromMs, toMs: range.toMs } : { fromMs: nowMs - range.ms, toMs: nowMs }
}

/** As `datetime-local` writes times: by the clock of the console, to the second. */
export function toLocalInput(ms: number): string {
  return onClock(ms).toISOString().slice(0, 19)
}

/** The time of a field that began as `beganMs`, which it stays while the text does: a text has no ms, and names two times in the hour that clocks repeat. */
export function fromLocalInput(text: string, beganMs: number): number {
  return text === toLocalInput(beganMs) ? beganMs : momentOf(text)
}

/** As long, and just before. */
export function windowBefore({ fromMs, toMs }: TimeWindow): TimeWindow {
  return { fromMs: fromMs - (toMs - fromMs), toMs: fromMs }
}

const STEPS_MS = [
  1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000,
  21_600_000, 43_200_000, 86_400_000, 604_800_000, 2_592_000_000, 7_776_000_000, 31_536_000_000,
]

/** The width of a chart's bars: a round one, with about 80 of them. */
export function bucketMsFor({ fromMs, toMs }: TimeWindow): number {
  const wanted = (toMs - fromMs) / 80
  return STEPS_MS.find(step => step >= wanted) ?? STEPS_MS.at(-1)!
}

/** `25 Oct, 02:30:00 – 03:30:00`, by the clock of the console. A year that is not this one is said, and where clocks change in between, how far each is from UTC. */
export function sayTimeRange(range: TimeRange, nowMs = Date.now()): string {
  return range.kind === 'relative' ? `Last ${sayDuration(range.text)}` : sayWindow(range, nowMs)
}

/** The same within a sentence: `in the last 7 days`. */
export function sayWithin(range: TimeRange, nowMs = Date.now()): string {
  return range.kind === 'relative' ? `in the last ${sayDuration(range.text)}` : `within ${sayWindow(range, nowMs)}`
}

export function sayWindow({ fromMs, toMs }: TimeWindow, nowMs = Date.now()): string {
  const from = new Date(fromMs)
  const to = new Date(toMs)
  const yearOf = (ms: number) => onClock(ms).getUTCFullYear()
  const hasYear = [fromMs, toMs].some(ms => yearOf(ms) !== yearOf(nowMs))
  const isOneClock = clockOffsetMs(fromMs) === clockOffsetMs(toMs)
  const day = (date: Date) => formatDay(date) + (hasYear ? ` ${yearOf(date.getTime())}` : '')
  const time = (date: Date) => formatClock(date) + (isOneClock ? '' : ` (${sayOffset(date.getTime())})`)
  return day(from) === day(to) ? `${day(from)}, ${time(from)} – ${time(to)}` : `${day(from)}, ${time(from)} – ${day(to)}, ${time(to)}`
}
