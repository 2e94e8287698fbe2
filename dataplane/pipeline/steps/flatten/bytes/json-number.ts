import { doubleJson } from '../../../../domain/records/any-value.ts'
import { MINUS, ZERO } from '../../../../otlp/json-lexer.ts'
import { NOWHERE } from './json-phrase.ts'

const NINE = 57
const DOT = 46

/** After the digits from `p` on. */
export function digitsEnd(b: Uint8Array, from: number): number {
  let p = from
  while (b[p]! >= ZERO && b[p]! <= NINE) p++
  return p
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
  if (end === dot + 1 || b[end - 1] === ZERO || end - first - 1 > EXACT_DIGITS || isNumberPart(b[end]!)) return NOWHERE
  if (b[first] !== ZERO) return end
  let zeros = 0
  while (b[dot + 1 + zeros] === ZERO) zeros++
  return zeros > MAX_LEADING_ZEROS ? NOWHERE : end
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const NUMBER_PARTS = new Set(Array.from('0123456789+-.eE', char => char.charCodeAt(0)))

function isNumberPart(byte: number): boolean {
  return NUMBER_PARTS.has(byte)
}

/** After all that may belong to a number. */
export function numberTextEnd(b: Uint8Array, from: number): number {
  let p = from
  while (isNumberPart(b[p]!)) p++
  return p
}

/** What `doubleJson` makes of the number; undefined when it is none. */
export function doubleText(b: Buffer, from: number, to: number): string | undefined {
  const text = b.toString('latin1', from, to)
  return NUMBER.test(text) ? doubleJson(Number(text), 'typed') : undefined
}
