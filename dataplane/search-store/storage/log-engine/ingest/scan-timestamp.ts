/** Reads timestamps from bytes. Any unusual one gives NaN and is left to the date field. */
import { isDigit, ZERO } from '../../../../json/bytes.ts'

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
