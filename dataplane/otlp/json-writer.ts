import { Buffer, isUtf8 } from 'node:buffer'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const ZERO = 0x30
const HEX = Buffer.from('0123456789abcdef')
const BASE64 = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const PADDING = 0x3d
/** Letters of the short escapes, by control character; 0 where only `\u00XX` will do. */
const SHORT_ESCAPES = Uint8Array.from({ length: 32 }, (_, byte) => ({ 8: 0x62, 9: 0x74, 10: 0x6e, 12: 0x66, 13: 0x72 })[byte] ?? 0)
/** 1 for bytes that stand for themselves inside a string. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) => (byte < 0x20 || byte === QUOTE || byte === BACKSLASH ? 0 : 1))
/** One double, seen as two little-endian words (Node runs on no big-endian machine that this project supports). */
const DOUBLE = new Float64Array(1)
const WORDS = new Uint32Array(DOUBLE.buffer)
const BILLION = 1_000_000_000

/** Writes JSON into a buffer that grows. */
export class JsonWriter {
  #out: Uint8Array
  #at = 0

  constructor(capacityBytes: number) {
    this.#out = Buffer.allocUnsafeSlow(capacityBytes)
  }

  get position(): number {
    return this.#at
  }

  /** What has been written; a view, valid until the next write. */
  written(): Uint8Array {
    return this.#out.subarray(0, this.#at)
  }

  /** Takes back everything after `position`. */
  rewind(position: number): void {
    this.#at = position
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes
    if (needed <= this.#out.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#out.length * 2))
    grown.set(this.#out.subarray(0, this.#at))
    this.#out = grown
  }

  /** A short piece of ready-made JSON. */
  raw(piece: Uint8Array): void {
    this.#reserve(piece.length)
    const out = this.#out
    let at = this.#at
    for (let i = 0; i < piece.length; i++) out[at++] = piece[i]!
    this.#at = at
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#out[this.#at++] = value
  }

  /** Ends an object or list whose members were each followed by a comma. */
  close(bracket: number): void {
    if (this.#out[this.#at - 1] === COMMA) this.#out[this.#at - 1] = bracket
    else this.byte(bracket)
  }

  /** ASCII without characters that need escaping. */
  ascii(text: string): void {
    this.#reserve(text.length)
    for (let i = 0; i < text.length; i++) this.#out[this.#at++] = text.charCodeAt(i)
  }

  /** Quoted UTF-8 from `b`; bytes that are not UTF-8 become U+FFFD. */
  string(b: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start + 2)
    const begin = this.#at
    const out = this.#out
    let at = begin
    let all = 0
    let p = start
    out[at++] = QUOTE
    for (; p < end; p++) {
      const c = b[p]!
      if (PLAIN[c] === 0) break
      all |= c
      out[at++] = c
    }
    this.#at = at
    if (p < end) all |= this.#escapedRest(b, p, end)
    if (all >= 0x80 && !isUtf8(b.subarray(start, end))) {
      this.#at = begin
      const repaired = Buffer.from(Buffer.from(b.subarray(start, end)).toString('utf8'))
      this.string(repaired, 0, repaired.length)
    } else this.byte(QUOTE)
  }

  /** Returns all bytes or-ed together. */
  #escapedRest(b: Uint8Array, start: number, end: number): number {
    let all = 0
    for (let p = start; p < end; p++) {
      const c = b[p]!
      all |= c
      this.#reserve(end - p + 6)
      if (PLAIN[c] === 1) this.#out[this.#at++] = c
      else this.#escape(c)
    }
    return all
  }

  #escape(c: number): void {
    this.#out[this.#at++] = BACKSLASH
    if (c >= 0x20) this.#out[this.#at++] = c
    else if (SHORT_ESCAPES[c] !== 0) this.#out[this.#at++] = SHORT_ESCAPES[c]!
    else {
      this.#out[this.#at++] = 0x75
      this.#out[this.#at++] = ZERO
      this.#out[this.#at++] = ZERO
      this.#out[this.#at++] = HEX[c >> 4]!
      this.#out[this.#at++] = HEX[c & 15]!
    }
  }

  /** Quoted lower-case hex. */
  hex(b: Uint8Array, start: number, end: number): void {
    this.#reserve(2 * (end - start) + 2)
    const out = this.#out
    let at = this.#at
    out[at++] = QUOTE
    for (let p = start; p < end; p++) {
      const c = b[p]!
      out[at++] = HEX[c >> 4]!
      out[at++] = HEX[c & 15]!
    }
    out[at++] = QUOTE
    this.#at = at
  }

  /** Quoted standard base64 with padding. */
  base64(b: Uint8Array, start: number, end: number): void {
    this.#reserve(4 * Math.ceil((end - start) / 3) + 2)
    const out = this.#out
    let at = this.#at
    out[at++] = QUOTE
    for (let p = start; p < end; p += 3) {
      const left = end - p
      const bits = (b[p]! << 16) | ((left > 1 ? b[p + 1]! : 0) << 8) | (left > 2 ? b[p + 2]! : 0)
      out[at++] = BASE64[bits >> 18]!
      out[at++] = BASE64[(bits >> 12) & 63]!
      out[at++] = left > 1 ? BASE64[(bits >> 6) & 63]! : PADDING
      out[at++] = left > 2 ? BASE64[bits & 63]! : PADDING
    }
    out[at++] = QUOTE
    this.#at = at
  }

  /** A non-negative integer below 2^53. */
  integer(value: number): void {
    this.#reserve(16)
    this.#digits(value, 1)
  }

  /** Quoted decimal of the unsigned 64-bit integer `high` × 2^32 + `low`. */
  uint64(high: number, low: number): void {
    this.#reserve(22)
    this.#out[this.#at++] = QUOTE
    this.#uint64Digits(high, low)
    this.#out[this.#at++] = QUOTE
  }

  /** Quoted decimal of the two's complement 64-bit integer. */
  int64(high: number, low: number): void {
    this.#reserve(22)
    this.#out[this.#at++] = QUOTE
    if (high >= 0x80000000) {
      this.#out[this.#at++] = 0x2d
      const negatedLow = -low >>> 0
      this.#uint64Digits((~high + (negatedLow === 0 ? 1 : 0)) >>> 0, negatedLow)
    } else this.#uint64Digits(high, low)
    this.#out[this.#at++] = QUOTE
  }

  /** The IEEE 754 double of these two halves; quoted where JSON has no number for it. */
  double(high: number, low: number): void {
    WORDS[0] = low
    WORDS[1] = high
    const value = DOUBLE[0]!
    if (Number.isFinite(value)) this.ascii(Object.is(value, -0) ? '-0' : String(value))
    else this.ascii(`"${value}"`)
  }

  /** In billions and rest, by way of 2^32 = 4 × 10^9 + 294967296 and 2^48 = 281474 × 10^9 + 976710656, exact in doubles. */
  #uint64Digits(high: number, low: number): void {
    if (high === 0) return this.#digits(low, 1)
    const top = high >>> 16
    const bottom = high & 0xffff
    const first = bottom * 294967296 + low
    const firstBillions = Math.floor(first / BILLION)
    const second = top * 976710656 + (first - firstBillions * BILLION)
    const secondBillions = Math.floor(second / BILLION)
    const billions = top * 281474 + bottom * 4 + firstBillions + secondBillions
    if (billions > 0) this.#digits(billions, 1)
    this.#digits(second - secondBillions * BILLION, billions > 0 ? 9 : 1)
  }

  /** Decimal digits, padded with zeros to at least `width`. */
  #digits(value: number, width: number): void {
    let count = width
    for (let power = 10 ** width; value >= power; power *= 10) count++
    const out = this.#out
    let at = this.#at + count
    this.#at = at
    let rest = value
    for (; rest >= BILLION; count--) {
      const quotient = Math.floor(rest / 10)
      out[--at] = ZERO + (rest - quotient * 10)
      rest = quotient
    }
    for (; count > 0; count--) {
      const quotient = (rest / 10) | 0
      out[--at] = ZERO + (rest - quotient * 10)
      rest = quotient
    }
  }
}
