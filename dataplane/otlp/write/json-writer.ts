/** Writes JSON into bytes: names, strings, numbers, base64. */
import { Buffer, isUtf8 } from 'node:buffer'
import { BACKSLASH, COMMA, PLAIN, QUOTE, ZERO } from '../../json/bytes.ts'
import { HIGH_BITS, marks, needsEscape } from '../../json/words.ts'
import { OversizedPayload } from '../malformed.ts'
import { messageMemory } from '../message-memory.ts'

const BASE64 = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const PADDING = 0x3d
/** Letters of the short escapes, by control character; 0 where only `\u00XX` will do. */
const SHORT_ESCAPES = Uint8Array.from({ length: 32 }, (_, byte) => ({ 8: 0x62, 9: 0x74, 10: 0x6e, 12: 0x66, 13: 0x72 })[byte] ?? 0)
/** 1 for bytes of ASCII that stand for themselves inside a string. */
const PLAIN_ASCII = PLAIN.map((plain, byte) => (byte < 0x80 ? plain : 0))
/** The two digits of every number below 100, and the two hex digits of every byte, as a little-endian word of two bytes. */
export const PAIRS = Uint16Array.from({ length: 100 }, (_, i) => wordOf(String(i).padStart(2, '0')))
export const HEX_PAIRS = Uint16Array.from({ length: 256 }, (_, i) => wordOf(i.toString(16).padStart(2, '0')))
/** One double, seen as two little-endian words (Node runs on no big-endian machine that this project supports). */
const DOUBLE = new Float64Array(1)
const WORDS = new Uint32Array(DOUBLE.buffer)
const BILLION = 1_000_000_000
/** 10^0 to 10^15: every integer below 2^53 is less than ten times the last. */
const POWERS = Float64Array.from({ length: 16 }, (_, exponent) => 10 ** exponent)

/** A short piece of ready-made JSON, kept in words of four bytes: these are written faster than single bytes. */
export interface Piece {
  readonly words: readonly number[]
  readonly length: number
}

export function buildPiece(json: string): Piece {
  const bytes = Buffer.from(json)
  const padded = Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)])
  return { words: Array.from({ length: padded.length / 4 }, (_, i) => padded.readInt32LE(4 * i)), length: bytes.length }
}

const FIRST_BYTES = 256 * 1024
/** Buffers up to this size are kept for the next text. */
const MAX_KEPT_BYTES = 2 * 1024 * 1024

/** Writes JSON into a buffer that grows, one text after the other. */
export class JsonWriter {
  #view = new DataView(new ArrayBuffer(FIRST_BYTES))
  #out = bytesOf(this.#view)
  #capacity = 0
  #limitBytes = 0
  #maxPartBytes = Number.POSITIVE_INFINITY
  #partEnd = Number.POSITIVE_INFINITY
  #at = 0
  /** All bytes that `#copyWords` copied, or-ed together. */
  #seenBits = 0

  /** Begins a text, and overwrites the one before. A write that would pass `limitBytes` throws an `OversizedPayload`. `maxPartBytes`: see `isPartFull`. */
  begin(limitBytes: number, maxPartBytes: number): void {
    this.#limitBytes = limitBytes
    this.#maxPartBytes = maxPartBytes
    this.#capacity = Math.min(this.#out.length, limitBytes)
    this.#at = 0
  }

  /** Ends a text: no more than `MAX_KEPT_BYTES` stay for the next one. */
  end(): void {
    if (this.#out.length > MAX_KEPT_BYTES) this.#use(new DataView(new ArrayBuffer(FIRST_BYTES)))
  }

  #use(view: DataView<ArrayBuffer>): void {
    this.#view = view
    this.#out = bytesOf(view)
  }

  /** Begins a part of the text: a resource, a scope or a record. */
  beginPart(): void {
    this.#partEnd = this.#at + this.#maxPartBytes
  }

  /** The part is longer than a part may be: the rest of it need not be written. */
  get isPartFull(): boolean {
    return this.#at > this.#partEnd
  }

  get position(): number {
    return this.#at
  }

  /** A copy of what has been written, in memory that is lent. */
  written(): Uint8Array {
    const copy = messageMemory.take(this.#at).subarray(0, this.#at)
    copy.set(this.#out.subarray(0, this.#at))
    return copy
  }

  /** A view of the bytes from `position` on, until more is written. */
  since(position: number): Uint8Array {
    return this.#out.subarray(position, this.#at)
  }

  /** JSON that is ready. */
  json(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#out.set(bytes, this.#at)
    this.#at += bytes.length
  }

  spaces(count: number): void {
    this.#reserve(count)
    this.#out.fill(0x20, this.#at, this.#at + count)
    this.#at += count
  }

  /** Takes back everything after `position`. */
  rewind(position: number): void {
    this.#at = position
  }

  /** The buffer, when so many bytes more have room in it as it is; `rewind` says how far it was written then. */
  roomFor(bytes: number): DataView | undefined {
    return this.#at + bytes <= this.#capacity ? this.#view : undefined
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes > this.#capacity) this.#grow(this.#at + bytes)
  }

  #grow(needed: number): void {
    if (needed > this.#limitBytes) throw new OversizedPayload(`request: expected at most ${this.#limitBytes} bytes in its JSON form`)
    const grown = Buffer.allocUnsafeSlow(Math.min(Math.max(needed, this.#capacity * 2), this.#limitBytes))
    grown.set(this.#out.subarray(0, this.#at))
    this.#use(new DataView(grown.buffer))
    this.#capacity = grown.length
  }

  piece({ words, length }: Piece): void {
    this.#reserve(4 * words.length)
    const view = this.#view
    const at = this.#at
    for (let i = 0; i < words.length; i++) view.setInt32(at + 4 * i, words[i]!, true)
    this.#at = at + length
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

  /** Quoted UTF-8 from `input`; bytes that are not UTF-8 become U+FFFD. */
  string(input: DataView, start: number, end: number): void {
    this.#reserve(end - start + 2)
    const view = this.#view
    const begin = this.#at
    const shift = begin + 1 - start
    view.setUint8(begin, QUOTE)
    let p = start
    for (const last = end - 8; p <= last; p += 8) {
      const one = input.getInt32(p, true)
      const two = input.getInt32(p + 4, true)
      if (((marks(one) | marks(two)) & HIGH_BITS) !== 0) break
      view.setInt32(p + shift, one, true)
      view.setInt32(p + 4 + shift, two, true)
    }
    for (; p < end; p++) {
      const c = input.getUint8(p)
      if (PLAIN_ASCII[c] === 0) break
      view.setUint8(p + shift, c)
    }
    this.#at = p + shift
    if (p < end) this.#unusualString(input, start, p, end)
    else this.#out[this.#at++] = QUOTE
  }

  /** The rest, from `from` on, of a string with bytes that are to be escaped or are not ASCII. */
  #unusualString(input: DataView, start: number, from: number, end: number): void {
    const begin = this.#at - (from - start) - 1
    let all = 0
    let p = from
    while (p < end) {
      p += this.#copyWords(input, p, end)
      all |= this.#seenBits
      for (const stop = Math.min(p + 4, end); p < stop; p++) {
        const c = input.getUint8(p)
        all |= c
        if (PLAIN[c] === 1) this.#out[this.#at++] = c
        else {
          this.#reserve(end - p + 6)
          this.#at = putEscape(this.#view, this.#at, c)
        }
      }
    }
    this.#out[this.#at++] = QUOTE
    if ((all & HIGH_BITS) !== 0) this.#repair(input, start, end, begin)
  }

  /** Copies words of four bytes until one holds a byte to be escaped, or fewer are left; returns how many bytes. */
  #copyWords(input: DataView, start: number, end: number): number {
    const view = this.#view
    const last = end - 4
    let at = this.#at
    let all = 0
    let p = start
    for (; p <= last; p += 4) {
      const word = input.getInt32(p, true)
      if (needsEscape(word)) break
      view.setInt32(at, word, true)
      all |= word
      at += 4
    }
    this.#at = at
    this.#seenBits = all
    return p - start
  }

  /** Writes the string that began at `begin` again where its bytes are not UTF-8. */
  #repair(input: DataView, start: number, end: number, begin: number): void {
    const bytes = Buffer.from(input.buffer, input.byteOffset + start, end - start)
    if (isUtf8(bytes)) return
    this.#at = begin
    const repaired = new TextEncoder().encode(bytes.toString('utf8'))
    this.string(new DataView(repaired.buffer, repaired.byteOffset), 0, repaired.length)
  }

  /** Quoted lower-case hex. */
  hex(b: Uint8Array, start: number, end: number): void {
    this.#reserve(2 * (end - start) + 2)
    const view = this.#view
    let at = this.#at
    view.setUint8(at++, QUOTE)
    for (let p = start; p < end; p++, at += 2) view.setUint16(at, HEX_PAIRS[b[p]!]!, true)
    view.setUint8(at++, QUOTE)
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
    this.int64Digits(high, low)
    this.#out[this.#at++] = QUOTE
  }

  /** The same without quotes. */
  int64Digits(high: number, low: number): void {
    this.#reserve(20)
    if (high >= 0x80000000) {
      this.#out[this.#at++] = 0x2d
      const negatedLow = -low >>> 0
      this.#uint64Digits((~high + (negatedLow === 0 ? 1 : 0)) >>> 0, negatedLow)
    } else this.#uint64Digits(high, low)
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
    if (high === 0) {
      this.#digits(low, 1)
      return
    }
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
    while (count < POWERS.length && value >= POWERS[count]!) count++
    const view = this.#view
    let at = this.#at + count
    this.#at = at
    let rest = value
    for (; rest >= BILLION; count -= 2) {
      const quotient = Math.floor(rest / 100)
      at -= 2
      view.setUint16(at, PAIRS[rest - quotient * 100]!, true)
      rest = quotient
    }
    for (; count >= 2; count -= 2) {
      const quotient = (rest / 100) | 0
      at -= 2
      view.setUint16(at, PAIRS[rest - quotient * 100]!, true)
      rest = quotient
    }
    if (count === 1) view.setUint8(at - 1, ZERO + rest)
  }
}

/** A control character, quote or backslash, escaped; returns where the next byte goes. */
export function putEscape(out: DataView, at: number, c: number): number {
  out.setUint8(at, BACKSLASH)
  const letter = c >= 0x20 ? c : SHORT_ESCAPES[c]!
  if (letter !== 0) {
    out.setUint8(at + 1, letter)
    return at + 2
  }
  out.setUint8(at + 1, 0x75)
  out.setUint16(at + 2, PAIRS[0]!, true)
  out.setUint16(at + 4, HEX_PAIRS[c]!, true)
  return at + 6
}

function bytesOf({ buffer }: DataView): Uint8Array {
  return new Uint8Array(buffer)
}

function wordOf(pair: string): number {
  return pair.charCodeAt(0) | (pair.charCodeAt(1) << 8)
}
