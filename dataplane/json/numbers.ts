/** Numbers in JSON: where they end, and what they come to. */
import { DOT, digitsEnd, isDigit, MINUS, NOWHERE, PLUS, ZERO } from './bytes.ts'

export interface ScannedNumber {
  /** Behind the last digit, or −1 when it is no JSON number. */
  position: number
  /** NaN: read the text with `Number`. */
  value: number
  /** Without fraction and exponent. */
  isWhole: boolean
}

const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent)

/** Exact: a mantissa that a double holds, divided by a power of ten that one holds, is rounded once. */
export function scanNumber(bytes: Uint8Array, at: number, out: ScannedNumber): void {
  let i = at
  const isNegative = bytes[i] === MINUS
  if (isNegative) i++
  const first = i
  let mantissa = 0
  while (isDigit(bytes[i])) mantissa = mantissa * 10 + (bytes[i++]! - ZERO)
  const digits = i - first
  out.position = -1
  if (digits === 0 || (digits > 1 && bytes[first] === ZERO)) return
  let decimals = 0
  if (bytes[i] === DOT) {
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
  if (bytes[i] === PLUS || bytes[i] === MINUS) i++
  const end = digitsEnd(bytes, i)
  return end === i ? NOWHERE : end
}

/** After an integer as JSON writes it, of at most `maxDigits` digits; `NOWHERE` when none stands at `p`. */
export function integerEnd(b: Uint8Array, p: number, maxDigits: number): number {
  const first = b[p] === MINUS ? p + 1 : p
  const end = digitsEnd(b, first)
  if (end === first || end - first > maxDigits) return NOWHERE
  return b[first] === ZERO && end - p > 1 ? NOWHERE : end
}

/** So many digits stand for one double alone, and are what `String` makes of it. */
const EXACT_DIGITS = 15
/** From here on `String` writes an exponent. */
const MAX_LEADING_ZEROS = 5

/** After a double that is written just as `doubleJson` would; `NOWHERE` when that is not certain. */
export function plainDoubleEnd(b: Uint8Array, p: number): number {
  const first = b[p] === MINUS ? p + 1 : p
  const dot = digitsEnd(b, first)
  if (b[dot] !== DOT || dot === first || (b[first] === ZERO && dot - first > 1)) return NOWHERE
  const end = digitsEnd(b, dot + 1)
  if (end === dot + 1 || b[end - 1] === ZERO || isNumberPart(b[end])) return NOWHERE
  const digits = end - first - 1
  if (digits > EXACT_DIGITS && !(b[first] !== ZERO && digits === EXACT_DIGITS + 1 && isShortest(b, first, dot, end))) return NOWHERE
  if (b[first] !== ZERO) return end
  let zeros = 0
  while (b[dot + 1 + zeros] === ZERO) zeros++
  return zeros > MAX_LEADING_ZEROS ? NOWHERE : end
}

/**
 * Whether a double of 16 digits is what `String` makes of it: no number of fewer digits stands for the same double, and none of its neighbours of 16
 * digits. Each division of two numbers that a double holds is rounded once.
 */
function isShortest(b: Uint8Array, first: number, dot: number, end: number): boolean {
  let mantissa = 0
  for (let p = first; p < end; p++) if (p !== dot) mantissa = mantissa * 10 + b[p]! - 0x30
  if (mantissa >= Number.MAX_SAFE_INTEGER) return false
  const scale = POWERS_OF_TEN[end - dot - 1]!
  const value = mantissa / scale
  if ((mantissa - 1) / scale === value || (mantissa + 1) / scale === value) return false
  const shorter = mantissa - (mantissa % 10)
  return shorter / scale !== value && (shorter + 10) / scale !== value
}

/** 1 for the bytes that a number may have. */
const NUMBER_PARTS = new Uint8Array(256)
for (const char of '0123456789+-.eE') NUMBER_PARTS[char.charCodeAt(0)] = 1

/** Undefined stands behind the last byte. */
function isNumberPart(byte: number | undefined): boolean {
  return NUMBER_PARTS[byte!] === 1
}

/** After all that may belong to a number. */
export function numberTextEnd(b: Uint8Array, from: number): number {
  let p = from
  while (isNumberPart(b[p])) p++
  return p
}
