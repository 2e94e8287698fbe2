/** Numbers that are cut out of the documents of a block. */
import { NOWHERE, QUOTE } from '../../../../../json/bytes.ts'
import { BitWriter, bitsAt, bitsOf } from '../bytes/bit-numbers.ts'
import type { ByteReader } from '../bytes/byte-writer.ts'
import { isMember } from './block-times.ts'
import { type CutValues, KINDS, MAX_DOCS, type Streams, type ValueReader } from './cut-values.ts'

const MAX_FRACTION = 30
const IS_NEGATIVE = 32
const IS_QUOTED = 64
/** Most digits of a group: they fit 30 bits. */
const GROUP = 9
/** Bits of a group of so many digits. */
const GROUP_BITS = [0, 4, 7, 10, 14, 17, 20, 24, 27, 30]
const fractionBits = (digits: number) => 30 * Math.floor(digits / GROUP) + GROUP_BITS[digits % GROUP]!

const bits = new BitWriter()

/** Numbers without an exponent; before the point below 2^32. Some may be strings. */
export class NumberValues implements CutValues {
  readonly kind = KINDS.numbers
  readonly #wholes = new Uint32Array(MAX_DOCS)
  readonly #forms = new Uint8Array(MAX_DOCS)
  /** Groups of digits behind the point. */
  readonly #groups = new Uint32Array(MAX_DOCS * Math.ceil(MAX_FRACTION / GROUP))
  #groupEnd = 0
  #count = 0

  begin(): void {
    this.#count = 0
    this.#groupEnd = 0
  }

  take(_doc: number, source: Uint8Array, start: number): number {
    let p = start
    let form = 0
    if (source[p] === QUOTE) {
      form = IS_QUOTED
      p++
    }
    if (source[p] === 0x2d) {
      form |= IS_NEGATIVE
      p++
    }
    const first = p
    let whole = 0
    let digit = source[p]! - 0x30
    for (; digit >= 0 && digit <= 9; digit = source[++p]! - 0x30) whole = 10 * whole + digit
    // A zero in front would be lost.
    if (p === first || p - first > 10 || whole >= 2 ** 32 || (source[first] === 0x30 && p - first > 1)) return NOWHERE
    const from = this.#groupEnd
    if (source[p] === 0x2e) {
      let end = from
      let digits = 0
      let group = 0
      digit = source[++p]! - 0x30
      for (; digit >= 0 && digit <= 9; digit = source[++p]! - 0x30) {
        group = 10 * group + digit
        if (++digits % GROUP !== 0) continue
        if (digits > MAX_FRACTION) return NOWHERE
        this.#groups[end++] = group
        group = 0
      }
      if (digits === 0 || digits > MAX_FRACTION) return NOWHERE
      if (digits % GROUP !== 0) this.#groups[end++] = group
      form |= digits
      this.#groupEnd = end
    }
    const next = source[p]
    if (form >= IS_QUOTED) {
      if (next === QUOTE) p++
      else p = NOWHERE
    } else if (!isMember(next)) p = NOWHERE
    if (p === NOWHERE) {
      this.#groupEnd = from
      return NOWHERE
    }
    this.#wholes[this.#count] = whole
    this.#forms[this.#count++] = form
    return p
  }

  write({ texts, plain }: Streams): void {
    const count = this.#count
    const wholes = this.#wholes
    let low = count === 0 ? 0 : wholes[0]!
    let high = low
    let isOneForm = true
    for (let k = 1; k < count; k++) {
      const whole = wholes[k]!
      if (whole < low) low = whole
      else if (whole > high) high = whole
      if (this.#forms[k] !== this.#forms[0]) isOneForm = false
    }
    const wholeBits = bitsOf(high - low)
    texts.byte(wholeBits)
    texts.number(low)
    texts.byte(isOneForm ? 1 : 0)
    texts.add(this.#forms, 0, isOneForm ? 1 : count)
    bits.begin(plain)
    let at = 0
    for (let k = 0; k < count; k++) {
      bits.add(wholes[k]! - low, wholeBits)
      for (let left = this.#forms[k]! & 31; left > 0; left -= GROUP) bits.add(this.#groups[at++]!, GROUP_BITS[Math.min(left, GROUP)]!)
    }
    bits.end()
  }
}

export class NumberReader implements ValueReader {
  readonly #bits: number
  readonly #low: number
  readonly #forms: Buffer
  readonly #isOneForm: boolean
  readonly #bytes: Buffer
  /** Where each value begins, in bits; undefined: all are of one length. */
  readonly #places: Uint32Array | undefined
  readonly #length: number

  constructor(count: number, texts: ByteReader, plain: ByteReader) {
    this.#bits = texts.byte()
    this.#low = texts.number()
    this.#isOneForm = texts.byte() === 1
    this.#forms = texts.take(this.#isOneForm ? 1 : count)
    this.#length = this.#bits + (count === 0 ? 0 : fractionBits(this.#forms[0]! & 31))
    let end = this.#length * count
    if (!this.#isOneForm) {
      const places = new Uint32Array(count)
      end = 0
      for (let k = 0; k < count; k++) {
        places[k] = end
        end += this.#bits + fractionBits(this.#forms[k]! & 31)
      }
      this.#places = places
    }
    this.#bytes = plain.take(Math.ceil(end / 8))
  }

  put(_doc: number, rank: number, out: Uint8Array, start: number): number {
    let at = start
    const form = this.#forms[this.#isOneForm ? 0 : rank]!
    if (form >= IS_QUOTED) out[at++] = QUOTE
    if ((form & IS_NEGATIVE) !== 0) out[at++] = 0x2d
    let place = this.#places === undefined ? this.#length * rank : this.#places[rank]!
    at = putNumber(this.#low + bitsAt(this.#bytes, place, this.#bits), out, at)
    place += this.#bits
    let left = form & 31
    if (left > 0) out[at++] = 0x2e
    while (left > 0) {
      const group = Math.min(left, GROUP)
      putDigits(bitsAt(this.#bytes, place, GROUP_BITS[group]!), group, out, at)
      place += GROUP_BITS[group]!
      at += group
      left -= group
    }
    if (form >= IS_QUOTED) out[at++] = QUOTE
    return at
  }
}

/** A whole number without zeros in front. */
function putNumber(value: number, out: Uint8Array, at: number): number {
  let length = 1
  for (let power = 10; power <= value; power *= 10) length++
  putDigits(value, length, out, at)
  return at + length
}

/** The last `length` digits of a number below 2^32. */
function putDigits(value: number, length: number, out: Uint8Array, at: number): void {
  let left = value
  for (let k = at + length - 1; k >= at; k--) {
    const rest = (left / 10) >>> 0
    out[k] = 0x30 + left - 10 * rest
    left = rest
  }
}
