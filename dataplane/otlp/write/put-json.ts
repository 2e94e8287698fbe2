/** Writes pieces of JSON at a position for which the caller has made room; each returns where the next byte goes. */
import { Buffer, isUtf8 } from 'node:buffer'
import { BACKSLASH, PLAIN, QUOTE, ZERO } from '../../json/bytes.ts'
import { HIGH_BITS, marks, needsEscape } from '../../json/words.ts'
import { PAIRS, putEscape } from './json-writer.ts'

/** Left to the general way, which writes anything. */
export const NOT_PLAIN = -1

/** Ready-made JSON in words of eight bytes. ASCII is never a NaN, so that a double keeps its bits. */
export interface Wide {
  readonly words: Float64Array
  readonly length: number
}

export function wide(json: string): Wide {
  const words = new Float64Array(Math.ceil(json.length / 8))
  Buffer.from(words.buffer).write(json, 'latin1')
  return { words, length: json.length }
}

export function put(out: DataView, at: number, { words, length }: Wide): number {
  for (let i = 0; i < words.length; i++) out.setFloat64(at + 8 * i, words[i]!, true)
  return at + length
}

/** A string's text, without its quotes; `NOT_PLAIN` for bytes that are not UTF-8. */
export function putText(input: DataView, start: number, end: number, out: DataView, at: number): number {
  const shift = at - start
  const last = end - 8
  let p = start
  for (; p <= last; p += 8) {
    const one = input.getInt32(p, true)
    const two = input.getInt32(p + 4, true)
    if (((marks(one) | marks(two)) & HIGH_BITS) !== 0) return putUnusual(input, start, p, end, out, p + shift)
    out.setInt32(p + shift, one, true)
    out.setInt32(p + 4 + shift, two, true)
  }
  if (p === end) return p + shift
  // The rest, in two words that reach back over bytes that are copied already.
  if (end - start >= 4) {
    const from = end - start >= 8 ? last : start
    const one = input.getInt32(from, true)
    const two = input.getInt32(end - 4, true)
    if (((marks(one) | marks(two)) & HIGH_BITS) !== 0) return putUnusual(input, start, p, end, out, p + shift)
    out.setInt32(from + shift, one, true)
    out.setInt32(end - 4 + shift, two, true)
    return end + shift
  }
  for (; p < end; p++) {
    const c = input.getUint8(p)
    if (c >= 0x80 || PLAIN[c] === 0) return putUnusual(input, start, p, end, out, p + shift)
    out.setUint8(p + shift, c)
  }
  return end + shift
}

/** The rest, from `from` on, of a text with bytes that are to be escaped or are not ASCII. */
function putUnusual(input: DataView, start: number, from: number, end: number, out: DataView, outAt: number): number {
  const last = end - 4
  let at = outAt
  let all = 0
  let p = from
  while (p < end) {
    for (; p <= last; p += 4) {
      const word = input.getInt32(p, true)
      if (needsEscape(word)) break
      out.setInt32(at, word, true)
      all |= word
      at += 4
    }
    for (const stop = p + 4 < end ? p + 4 : end; p < stop; p++) {
      const c = input.getUint8(p)
      all |= c
      if (PLAIN[c] === 1) out.setUint8(at++, c)
      else if (c === QUOTE || c === BACKSLASH) {
        out.setUint16(at, BACKSLASH | (c << 8), true)
        at += 2
      } else at = putEscape(out, at, c)
    }
  }
  if ((all & HIGH_BITS) !== 0 && !isUtf8(Buffer.from(input.buffer, input.byteOffset + start, end - start))) return NOT_PLAIN
  return at
}

/** The digits of a number below 128. */
export function putSmall(value: number, out: DataView, at: number): number {
  if (value < 10) {
    out.setUint8(at, ZERO + value)
    return at + 1
  }
  if (value < 100) {
    out.setUint16(at, PAIRS[value]!, true)
    return at + 2
  }
  out.setUint8(at, ZERO + 1)
  out.setUint16(at + 1, PAIRS[value - 100]!, true)
  return at + 3
}

/** The digits of a number below 16,384. */
export function putDigits(value: number, out: DataView, at: number): number {
  if (value < 100) return putSmall(value, out, at)
  const hundreds = (value / 100) | 0
  const next = putSmall(hundreds < 100 ? hundreds : (hundreds / 100) | 0, out, at)
  const rest = value - hundreds * 100
  if (hundreds < 100) {
    out.setUint16(next, PAIRS[rest]!, true)
    return next + 2
  }
  out.setUint16(next, PAIRS[hundreds % 100]!, true)
  out.setUint16(next + 2, PAIRS[rest]!, true)
  return next + 4
}

/** The whole seconds written last, and their digits, eleven at most: most times of a request lie within one second. */
let lastSeconds = 0
let lastLength = 0
const lastDigits = new DataView(new ArrayBuffer(12))

function rememberSeconds(seconds: number): void {
  const digits = String(seconds)
  for (let i = 0; i < digits.length; i++) lastDigits.setUint8(i, digits.charCodeAt(i))
  lastSeconds = seconds
  lastLength = digits.length
}

/** The decimal digits of nanoseconds, `high` × 2^32 + `low`; `NOT_PLAIN` for a time in the first second of 1970. */
export function putTime(high: number, low: number, out: DataView, at: number): number {
  // In billions and rest, by way of 2^32 = 4 × 10^9 + 294967296 and 2^48 = 281474 × 10^9 + 976710656, exact in doubles.
  const top = high >>> 16
  const bottom = high & 0xffff
  const first = bottom * 294967296 + low
  const firstBillions = Math.floor(first / 1e9)
  const second = top * 976710656 + (first - firstBillions * 1e9)
  const secondBillions = Math.floor(second / 1e9)
  const seconds = top * 281474 + bottom * 4 + firstBillions + secondBillions
  const nanos = second - secondBillions * 1e9
  if (seconds === 0) return NOT_PLAIN
  if (seconds !== lastSeconds) rememberSeconds(seconds)
  out.setFloat64(at, lastDigits.getFloat64(0, true), true)
  out.setInt32(at + 8, lastDigits.getInt32(8, true), true)
  const upper = (nanos / 10_000) | 0
  const lower = nanos - upper * 10_000
  const millions = (upper / 10_000) | 0
  const middle = upper - millions * 10_000
  const to = at + lastLength
  out.setUint8(to, ZERO + millions)
  out.setUint16(to + 1, PAIRS[(middle / 100) | 0]!, true)
  out.setUint16(to + 3, PAIRS[middle % 100]!, true)
  out.setUint16(to + 5, PAIRS[(lower / 100) | 0]!, true)
  out.setUint16(to + 7, PAIRS[lower % 100]!, true)
  return to + 9
}
