/** Times of records, and the day of the index that a record goes into (Decisions 4). */

/** A point in time as the record, the document and the daily index need it. */
export interface Timestamp {
  /** Decimal string without leading zeros. */
  readonly timeUnixNano: string
  /** ISO-8601 UTC, three to nine fraction digits. */
  readonly iso: string
  /** Whole milliseconds since the Unix epoch. */
  readonly ms: number
  /** Nanoseconds within the millisecond, 0 to 999,999. */
  readonly nanos: number
}

const SECOND_MS = 1_000
const DAY_MS = 86_400_000
const MAX_UINT64 = '18446744073709551615'
const UNSIGNED_DECIMAL = /^0*(\d{1,20})$/
const DIGITS = /^\d+$/
const NEGATIVE = /^-\d{1,19}$/

/**
 * The decimal digits of an OTLP time without leading zeros; `''` when it is absent, 0 (unknown), or negative (some
 * clients' way of having none: Go's zero time); undefined when it is no 64-bit integer.
 */
export function parseUnixNano(value: string | number | undefined): string | undefined {
  if (value === undefined || value === 0 || value === '' || value === '0') return ''
  if (typeof value === 'number') return Number.isSafeInteger(value) ? (value > 0 ? String(value) : '') : undefined
  // Every time since September 2001 and before 2286 has 19 digits.
  const digits = value.length === 19 && value.charCodeAt(0) !== 48 ? value : UNSIGNED_DECIMAL.exec(value)?.[1]
  if (digits === undefined || !DIGITS.test(digits)) return NEGATIVE.test(value) ? '' : undefined
  if (digits === '0') return ''
  return digits.length === 20 && digits > MAX_UINT64 ? undefined : digits
}

/** Records of one batch share few seconds: the last ones are remembered, each in the slot of its low bits. */
const SLOTS = 64
const cachedSeconds = new Float64Array(SLOTS).fill(Number.NaN)
const cachedPrefixes: string[] = new Array(SLOTS).fill('')

/** `YYYY-MM-DDTHH:mm:ss` of a second since the epoch. */
export function secondPrefix(second: number): string {
  const slot = second % SLOTS
  if (cachedSeconds[slot] !== second) {
    cachedPrefixes[slot] = new Date(second * SECOND_MS).toISOString().slice(0, 19)
    cachedSeconds[slot] = second
  }
  return cachedPrefixes[slot]!
}

/** Breaks nanoseconds since the epoch (decimal digits, unsigned 64-bit) down, without loss (Decisions 4). */
export function buildTimestamp(timeUnixNano: string): Timestamp {
  const split = timeUnixNano.length - 9
  const second = split > 0 ? Number(timeUnixNano.slice(0, split)) : 0
  const fraction = split >= 0 ? timeUnixNano.slice(split) : timeUnixNano.padStart(9, '0')
  const nanosOfSecond = Number(fraction)
  const msOfSecond = Math.floor(nanosOfSecond / 1_000_000)
  return {
    timeUnixNano,
    iso: `${secondPrefix(second)}.${significant(fraction)}Z`,
    ms: second * SECOND_MS + msOfSecond,
    nanos: nanosOfSecond - msOfSecond * 1_000_000,
  }
}

/** Nine fraction digits without the trailing zeros, but at least three. */
function significant(fraction: string): string {
  let end = 9
  while (end > 3 && fraction.charCodeAt(end - 1) === 48) end--
  return end === 9 ? fraction : fraction.slice(0, end)
}

/** The order of two ISO-8601 UTC times of three to nine fraction digits: as texts, `.370Z` would come after `.370000001Z`. */
export function compareTimestamps(a: string, b: string): number {
  const byMs = Date.parse(a) - Date.parse(b)
  if (byMs !== 0 || a === b) return byMs
  return a.slice(0, -1) < b.slice(0, -1) ? -1 : 1
}

/** The rule of the daily index beside the record's own time. */
export interface DayRule {
  /** When the bus took the record: the same on every pass. */
  readonly receivedAtMs: number
  readonly retentionDays: number
}

/** Whether a time lies within retention and at most one day ahead. */
export function isKept(ms: number, { receivedAtMs, retentionDays }: DayRule): boolean {
  return ms >= receivedAtMs - retentionDays * DAY_MS && ms <= receivedAtMs + DAY_MS
}

let cachedDay = Number.NaN
let cachedDayText = ''

/** `YYYY.MM.dd` in UTC. */
export function formatDay(ms: number): string {
  const day = Math.floor(ms / DAY_MS)
  if (day !== cachedDay) {
    cachedDayText = new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '.')
    cachedDay = day
  }
  return cachedDayText
}

/**
 * The UTC day of the daily index: that of the timestamp when it is kept, else that of the observed time when that is,
 * else that of the arrival on the bus (Decisions 4). `observedUnixNano` is `''` when there is none.
 */
export function indexDay(timestampMs: number, observedUnixNano: string, rule: DayRule): string {
  if (isKept(timestampMs, rule)) return formatDay(timestampMs)
  const observedMs = observedUnixNano === '' ? Number.NaN : buildTimestamp(observedUnixNano).ms
  return formatDay(isKept(observedMs, rule) ? observedMs : rule.receivedAtMs)
}
