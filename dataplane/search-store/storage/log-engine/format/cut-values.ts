/**
 * Values that are cut out of the documents of a block since no two of them are alike. Each way of keeping them takes a value only if it can give back
 * its very bytes; values that it does not take stay in the text.
 */
import { NOWHERE, QUOTE } from '../../../../json/bytes.ts'
import { BitWriter, bitsAt, bitsOf } from './bit-numbers.ts'
import { BlockTimes, isMember } from './block-times.ts'
import type { ByteReader, ByteWriter } from './byte-writer.ts'

/** Most documents of a block. */
export const MAX_DOCS = 128

/** Where values go. */
export interface Streams {
  /** Texts and small numbers, which compress. */
  readonly texts: ByteWriter
  /** Bytes at random, which do not. */
  readonly plain: ByteWriter
}

export interface StreamReaders {
  readonly texts: ByteReader
  readonly plain: ByteReader
}

/** Takes the values of one member while a block is made. */
export interface CutValues {
  readonly kind: number
  begin(ids: readonly Uint8Array[]): void
  /** Takes the value at `start` of a document; returns where it ends, or `NOWHERE`: it stays where it is. */
  take(doc: number, source: Uint8Array, start: number): number
  write(to: Streams): void
}

/** Gives values back. */
export interface ValueReader {
  /** Writes the value of a document, the `rank`th of them, to `out` at `at`; returns where it ends. */
  put(doc: number, rank: number, out: Uint8Array, at: number): number
}

/** The block that is read. */
export interface BlockParts {
  readonly docs: number
  /** Ids of the documents, 16 bytes each. */
  readonly ids: Uint8Array
  times: BlockTimes | undefined
}

export const KINDS = { nothing: 0, id: 1, uuid: 2, hex: 3, numbers: 4, time: 5, epoch: 6, subMillis: 7 } as const

const UUID_BYTES = 16
const UUID_LENGTH = 36
/** Values of the lower-case hex digits. */
const HEX = new Uint8Array(256).fill(255)
const HEX_DIGITS = Buffer.from('0123456789abcdef')
for (const [value, digit] of HEX_DIGITS.entries()) HEX[digit] = value

/** A place where documents are cut and nothing is taken out. */
export class NoValues implements CutValues {
  readonly kind = KINDS.nothing
  begin(): void {}
  take(_doc: number, _source: Uint8Array, start: number): number {
    return start
  }
  write(): void {}
}

/** The document's own id. */
export class IdValues implements CutValues {
  readonly kind = KINDS.id
  #ids: readonly Uint8Array[] = []

  begin(ids: readonly Uint8Array[]): void {
    this.#ids = ids
  }

  take(doc: number, source: Uint8Array, start: number): number {
    const id = this.#ids[doc]!
    if (source[start] !== QUOTE || source[start + UUID_LENGTH + 1] !== QUOTE) return NOWHERE
    let p = start + 1
    let bad = 0
    for (let k = 0; k < UUID_BYTES; k++) {
      if (k === 4 || k === 6 || k === 8 || k === 10) bad |= source[p++]! ^ 0x2d
      const high = HEX[source[p]!]!
      const low = HEX[source[p + 1]!]!
      bad |= ((high << 4) | low) ^ id[k]!
      p += 2
    }
    return bad === 0 ? p + 1 : NOWHERE
  }

  write(): void {}
}

/** Strings of a certain number of lower-case hex digits; UUIDs have dashes between. */
export class HexValues implements CutValues {
  readonly kind: number
  readonly #bytes: number
  readonly #values: Uint8Array
  #count = 0

  constructor(bytes: number, isUuid: boolean) {
    this.kind = isUuid ? KINDS.uuid : KINDS.hex
    this.#bytes = bytes
    this.#values = new Uint8Array(MAX_DOCS * bytes)
  }

  begin(): void {
    this.#count = 0
  }

  take(_doc: number, source: Uint8Array, start: number): number {
    const isUuid = this.kind === KINDS.uuid
    const bytes = this.#bytes
    const values = this.#values
    if (source[start] !== QUOTE || source[start + 1 + 2 * bytes + (isUuid ? 4 : 0)] !== QUOTE) return NOWHERE
    let p = start + 1
    let at = bytes * this.#count
    let bad = 0
    for (let k = 0; k < bytes; k++) {
      if (isUuid && (k === 4 || k === 6 || k === 8 || k === 10) && source[p++] !== 0x2d) return NOWHERE
      const high = HEX[source[p]!]!
      const low = HEX[source[p + 1]!]!
      bad |= high | low
      values[at++] = (high << 4) | (low & 15)
      p += 2
    }
    if (bad > 15) return NOWHERE
    this.#count++
    return p + 1
  }

  write({ texts, plain }: Streams): void {
    texts.byte(this.#bytes)
    plain.add(this.#values, 0, this.#bytes * this.#count)
  }
}

const MAX_FRACTION = 30
const IS_NEGATIVE = 32
const IS_QUOTED = 64
/** Most digits of a group: they fit 30 bits. */
const GROUP = 9
/** Bits of a group of so many digits. */
const GROUP_BITS = [0, 4, 7, 10, 14, 17, 20, 24, 27, 30]
const fractionBits = (digits: number) => 30 * Math.floor(digits / GROUP) + GROUP_BITS[digits % GROUP]!

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
    const bits = bitsOf(high - low)
    texts.byte(bits)
    texts.number(low)
    texts.byte(isOneForm ? 1 : 0)
    texts.add(this.#forms, 0, isOneForm ? 1 : count)
    const out = new BitWriter(plain)
    let at = 0
    for (let k = 0; k < count; k++) {
      out.add(wholes[k]! - low, bits)
      for (let left = this.#forms[k]! & 31; left > 0; left -= GROUP) out.add(this.#groups[at++]!, GROUP_BITS[Math.min(left, GROUP)]!)
    }
    out.end()
  }
}

/** Times, of which two other members may tell the nanoseconds once more. */
export class TimeValues implements CutValues {
  readonly kind = KINDS.time
  readonly times = new BlockTimes(MAX_DOCS)
  /** By document: 1, it has a time. */
  readonly has = new Uint8Array(MAX_DOCS)

  begin(): void {
    this.times.clear()
    this.has.fill(0)
  }

  take(doc: number, source: Uint8Array, start: number): number {
    const end = this.times.take(doc, source, start)
    if (end !== NOWHERE) this.has[doc] = 1
    return end
  }

  write({ texts }: Streams): void {
    this.times.write(this.has.lastIndexOf(1) + 1, texts)
  }
}

const scratch = new Uint8Array(64)

/** A time that the document's time tells already: nanoseconds since 1970, or those beyond the millisecond. */
export class DerivedValues implements CutValues {
  readonly kind: number
  readonly #of: TimeValues

  constructor(kind: number, of: TimeValues) {
    this.kind = kind
    this.#of = of
  }

  begin(): void {}

  take(doc: number, source: Uint8Array, start: number): number {
    const { times, has } = this.#of
    if (has[doc] === 0) return NOWHERE
    const length = this.kind === KINDS.epoch ? times.putEpoch(doc, scratch, 0) : times.putSubMillis(doc, scratch, 0)
    for (let k = 0; k < length; k++) if (source[start + k] !== scratch[k]) return NOWHERE
    const end = start + length
    return length > 0 && isMember(source[end]) ? end : NOWHERE
  }

  write(): void {}
}

/** Reads what `write` of that kind wrote for `count` values. */
export function readValues(kind: number, count: number, parts: BlockParts, { texts, plain }: StreamReaders): ValueReader {
  switch (kind) {
    case KINDS.nothing:
      return { put: (_doc, _rank, _out, at) => at }
    case KINDS.id:
      return { put: (doc, _rank, out, at) => putUuid(parts.ids, UUID_BYTES * doc, out, at) }
    case KINDS.uuid: {
      const bytes = plain.take(texts.byte() * count)
      return { put: (_doc, rank, out, at) => putUuid(bytes, UUID_BYTES * rank, out, at) }
    }
    case KINDS.hex: {
      const width = texts.byte()
      const bytes = plain.take(width * count)
      return { put: (_doc, rank, out, at) => putHex(bytes, width * rank, width * (rank + 1), out, at) }
    }
    case KINDS.numbers:
      return new NumberReader(count, texts, plain)
    case KINDS.time: {
      const times = BlockTimes.read(parts.docs, texts)
      parts.times ??= times
      return { put: (doc, _rank, out, at) => times.put(doc, out, at) }
    }
    case KINDS.epoch:
      return { put: (doc, _rank, out, at) => parts.times!.putEpoch(doc, out, at) }
    case KINDS.subMillis:
      return { put: (doc, _rank, out, at) => parts.times!.putSubMillis(doc, out, at) }
    default:
      throw new Error(`a block has values of kind ${kind}, which this version does not know`)
  }
}

class NumberReader implements ValueReader {
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

function putHex(bytes: Uint8Array, start: number, end: number, out: Uint8Array, at: number): number {
  let to = at
  out[to++] = QUOTE
  for (let k = start; k < end; k++) {
    const byte = bytes[k]!
    out[to++] = HEX_DIGITS[byte >>> 4]!
    out[to++] = HEX_DIGITS[byte & 15]!
  }
  out[to++] = QUOTE
  return to
}

function putUuid(bytes: Uint8Array, start: number, out: Uint8Array, at: number): number {
  let to = at
  out[to++] = QUOTE
  for (let k = 0; k < UUID_BYTES; k++) {
    if (k === 4 || k === 6 || k === 8 || k === 10) out[to++] = 0x2d
    const byte = bytes[start + k]!
    out[to++] = HEX_DIGITS[byte >>> 4]!
    out[to++] = HEX_DIGITS[byte & 15]!
  }
  out[to++] = QUOTE
  return to
}

/** A whole number without zeros in front. */
export function putNumber(value: number, out: Uint8Array, at: number): number {
  let length = 1
  for (let power = 10; power <= value; power *= 10) length++
  putDigits(value, length, out, at)
  return at + length
}

/** The last `length` digits of a number below 2^32. */
export function putDigits(value: number, length: number, out: Uint8Array, at: number): void {
  let left = value
  for (let k = at + length - 1; k >= at; k--) {
    const rest = (left / 10) >>> 0
    out[k] = 0x30 + left - 10 * rest
    left = rest
  }
}
