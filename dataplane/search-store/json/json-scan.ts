/** Scans JSON in bytes: numbers, strings, dates, ends of values. Unusual forms give −1 or NaN and are left to `JSON.parse`. */

export interface ScannedNumber {
  /** Behind the last digit, or −1 when it is no JSON number. */
  position: number
  /** NaN: read the text with `Number`. */
  value: number
  /** Without fraction and exponent. */
  isWhole: boolean
}

const ZERO = 0x30
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent)

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39

/** Exact: a mantissa that a double holds, divided by a power of ten that one holds, is rounded once. */
export function scanNumber(bytes: Uint8Array, at: number, out: ScannedNumber): void {
  let i = at
  const isNegative = bytes[i] === 0x2d
  if (isNegative) i++
  const first = i
  let mantissa = 0
  while (isDigit(bytes[i])) mantissa = mantissa * 10 + (bytes[i++]! - ZERO)
  const digits = i - first
  out.position = -1
  if (digits === 0 || (digits > 1 && bytes[first] === ZERO)) return
  let decimals = 0
  if (bytes[i] === 0x2e) {
    const from = ++i
    while (isDigit(bytes[i])) mantissa = mantissa * 10 + (bytes[i++]! - ZERO)
    decimals = i - from
    if (decimals === 0) return
  }
  out.isWhole = decimals === 0
  if (bytes[i] === 0x65 || bytes[i] === 0x45) {
    i = exponentEnd(bytes, i + 1)
    if (i < 0) return
    out.isWhole = false
    out.value = Number.NaN
  } else if (mantissa <= Number.MAX_SAFE_INTEGER && decimals < POWERS_OF_TEN.length) {
    const value = decimals === 0 ? mantissa : mantissa / POWERS_OF_TEN[decimals]!
    out.value = isNegative ? -value : value
  } else out.value = Number.NaN
  out.position = i
}

function exponentEnd(bytes: Uint8Array, at: number): number {
  let i = at
  if (bytes[i] === 0x2b || bytes[i] === 0x2d) i++
  if (!isDigit(bytes[i])) return -1
  while (isDigit(bytes[i])) i++
  return i
}

/** Behind the closing quote of the string whose content starts at `at`; −1 for an escape, a control character or no end. Bytes beyond ASCII are for the caller. */
export function plainStringEnd(bytes: Uint8Array, at: number, end: number): number {
  for (let i = at; i < end; i++) {
    const byte = bytes[i]!
    if (byte === 0x22) return i + 1
    if (byte === 0x5c || byte < 0x20) return -1
  }
  return -1
}

/** The same, −1 also for bytes beyond ASCII. */
export function asciiStringEnd(bytes: Uint8Array, at: number, end: number): number {
  for (let i = at; i < end; i++) {
    const byte = bytes[i]!
    if (byte === 0x22) return i + 1
    if (byte === 0x5c || byte < 0x20 || byte >= 0x80) return -1
  }
  return -1
}

/** Behind the closing quote, escapes or not; −1 when the string does not end. */
export function anyStringEnd(bytes: Uint8Array, at: number, end: number): number {
  for (let i = at; i < end; i++) {
    if (bytes[i] === 0x22) return i + 1
    if (bytes[i] === 0x5c) i++
  }
  return -1
}

export function skipSpace(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end && (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09)) at++
  return at
}

/** Behind the value that starts at `start`; `start` where there is none. Brackets are counted, not checked. */
export function valueEnd(bytes: Uint8Array, start: number, end: number): number {
  let depth = 0
  let at = start
  while (at < end) {
    const byte = bytes[at]!
    if (byte === 0x22) {
      at = anyStringEnd(bytes, at + 1, end)
      if (at < 0) return end
      if (depth === 0) return at
      continue
    }
    if (byte === 0x7b || byte === 0x5b) depth++
    else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (byte === 0x2c || byte <= 0x20)) return at
    at++
  }
  return at
}

const DAY_MS = 86_400_000
let lastDay = -1
let lastDayMs = Number.NaN

/** Milliseconds of `YYYY-MM-DDTHH:MM:SS[.fraction]Z` at `at`, `end` behind the Z; NaN for any other form. */
export function scanTimestamp(bytes: Uint8Array, at: number, end: number): number {
  const length = end - at
  if (length < 20 || length > 30 || bytes[end - 1] !== 0x5a || bytes[at + 10] !== 0x54) return Number.NaN
  if (bytes[at + 4] !== 0x2d || bytes[at + 7] !== 0x2d || bytes[at + 13] !== 0x3a || bytes[at + 16] !== 0x3a) return Number.NaN
  const dayMs = dayOf(digits(bytes, at, 4), digits(bytes, at + 5, 2), digits(bytes, at + 8, 2))
  const hour = digits(bytes, at + 11, 2)
  const minute = digits(bytes, at + 14, 2)
  const second = digits(bytes, at + 17, 2)
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN
  return dayMs + ((hour * 60 + minute) * 60 + second) * 1000 + fractionMs(bytes, at + 19, end - 1)
}

function fractionMs(bytes: Uint8Array, at: number, end: number): number {
  if (at === end) return 0
  if (bytes[at] !== 0x2e || at + 1 === end) return Number.NaN
  let ms = 0
  let scale = 100
  for (let i = at + 1; i < end; i++) {
    if (!isDigit(bytes[i])) return Number.NaN
    ms += scale * (bytes[i]! - ZERO)
    scale = scale === 1 ? 0 : scale / 10
  }
  return ms
}

function digits(bytes: Uint8Array, at: number, count: number): number {
  let value = 0
  for (let i = at; i < at + count; i++) {
    if (!isDigit(bytes[i])) return Number.NaN
    value = value * 10 + (bytes[i]! - ZERO)
  }
  return value
}

function dayOf(year: number, month: number, day: number): number {
  const key = (year * 13 + month) * 32 + day
  if (key === lastDay) return lastDayMs
  const date = new Date(Date.UTC(2000, 0, 1))
  date.setUTCFullYear(year, month - 1, day)
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  lastDay = key
  lastDayMs = isReal ? Math.floor(date.getTime() / DAY_MS) * DAY_MS : Number.NaN
  return lastDayMs
}
