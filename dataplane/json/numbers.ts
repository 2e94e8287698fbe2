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

/** Digits up to which a number stands for one double alone, and is what `String` makes of it. */
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
  if (end - first - 1 > EXACT_DIGITS && !isShortest(b, first, dot, end)) return NOWHERE
  if (b[first] !== ZERO) return end
  let zeros = 0
  while (b[dot + 1 + zeros] === ZERO) zeros++
  return zeros > MAX_LEADING_ZEROS ? NOWHERE : end
}

/** Digits that are read apart from those before them, so that both parts are numbers that a double holds. */
const LOW_DIGITS = 8
const LOW_SCALE = 10 ** LOW_DIGITS
/** A sum of two parts has 17 digits at most: the most that `String` writes. */
const MAX_HIGH = 1_000_000_000
/** A number nearer to a bound than that is left undecided. */
const MARGIN = 1e-6

/** Splits a double into two of 26 bits. */
const SPLITTER = 2 ** 27 + 1
const highPart = (x: number) => SPLITTER * x - (SPLITTER * x - x)
const HIGH_POWERS = POWERS_OF_TEN.map(highPart)

const double = new Float64Array(1)
const doubleWords = new Uint32Array(double.buffer)
const EXPONENT_BITS = 52

/**
 * Whether a double of more than 15 digits is certainly what `String` makes of it: the nearest one of so many digits to its double, and no number of fewer digits
 * stands for that. All counts in units of its last digit, exactly: the number is `high + low`, and what a division leaves over is known from the product of
 * its result (Dekker 1971).
 */
function isShortest(b: Uint8Array, first: number, dot: number, end: number): boolean {
  const decimals = end - dot - 1
  const scale = POWERS_OF_TEN[decimals]
  if (scale === undefined) return false
  let left = end - first - 1
  let highDigits = 0
  let low = 0
  for (let p = first; p < end; p++) {
    if (p === dot) continue
    if (left-- > LOW_DIGITS) highDigits = highDigits * 10 + b[p]! - ZERO
    else low = low * 10 + b[p]! - ZERO
  }
  if (highDigits >= MAX_HIGH) return false
  const high = highDigits * LOW_SCALE
  const near = (high + low) / scale
  const value = near + restOf(high, low, near, decimals) / scale
  const rest = restOf(high, low, value, decimals)
  const half = (unitOf(value) * scale) / 2
  const overTen = (low % 10) - rest
  return Math.abs(rest) < Math.min(0.5, half) - MARGIN && Math.min(overTen, 10 - overTen) > half + MARGIN
}

/** `high + low` less `value` times this power of ten. */
function restOf(high: number, low: number, value: number, power: number): number {
  const scale = POWERS_OF_TEN[power]!
  const scaleHigh = HIGH_POWERS[power]!
  const scaleLow = scale - scaleHigh
  const valueHigh = highPart(value)
  const valueLow = value - valueHigh
  const product = value * scale
  const error = valueHigh * scaleHigh - product + valueHigh * scaleLow + valueLow * scaleHigh + valueLow * scaleLow
  return high - product + low - error
}

/** The distance to the next double; infinite for a power of two, whose neighbours lie unequally far. */
function unitOf(value: number): number {
  double[0] = value
  const top = doubleWords[1]!
  if (doubleWords[0] === 0 && (top & 0xfffff) === 0) return Number.POSITIVE_INFINITY
  doubleWords[0] = 0
  doubleWords[1] = (top & 0x7ff00000) - (EXPONENT_BITS << 20)
  return double[0]
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
