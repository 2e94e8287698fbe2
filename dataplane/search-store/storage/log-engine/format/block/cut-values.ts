/**
 * Values that are cut out of the documents of a block since no two of them are alike. Each way of keeping them takes a value only if it can give back
 * its very bytes; values that it does not take stay in the text.
 */
import { NOWHERE, QUOTE } from '../../../../../json/bytes.ts'
import type { ByteReader, ByteWriter } from '../bytes/byte-writer.ts'
import { BlockTimes, isMember } from './block-times.ts'

/** Most documents of a block: numbers of them and of their texts take a byte, of which 255 stands for none. */
export const MAX_DOCS = 250

/** Where values go. */
export interface Streams {
  /** Texts and small numbers, which compress. */
  readonly texts: ByteWriter
  /** Bytes at random, which do not. */
  readonly plain: ByteWriter
}

/** Takes the values of one member while a block is made. */
export interface CutValues {
  readonly kind: number
  /** Ids of the documents, 16 bytes each. */
  begin(ids: Uint8Array): void
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
  readonly texts: ByteReader
  readonly plain: ByteReader
  /** Bits of cuts. */
  readonly masks: readonly number[]
  /** By document: its mask; undefined: all have one. */
  readonly forms: Uint8Array | undefined
  /** By cut and document: the how manyeth value it has. */
  readonly ranks: readonly Uint8Array[]
  /** By cut, as far as they are read. */
  readonly values: readonly ValueReader[]
  times: BlockTimes | undefined
}

export const KINDS = { nothing: 0, id: 1, uuid: 2, hex: 3, numbers: 4, time: 5, epoch: 6, subMillis: 7, logId: 8 } as const

export const UUID_BYTES = 16
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
  #ids: Uint8Array = new Uint8Array(0)

  begin(ids: Uint8Array): void {
    this.#ids = ids
  }

  take(doc: number, source: Uint8Array, start: number): number {
    const ids = this.#ids
    const at = UUID_BYTES * doc
    if (source[start] !== QUOTE || source[start + UUID_LENGTH + 1] !== QUOTE) return NOWHERE
    let p = start + 1
    let bad = 0
    for (let k = 0; k < UUID_BYTES; k++) {
      if (k === 4 || k === 6 || k === 8 || k === 10) bad |= source[p++]! ^ 0x2d
      const high = HEX[source[p]!]!
      const low = HEX[source[p + 1]!]!
      bad |= ((high << 4) | low) ^ ids[at + k]!
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
  protected readonly values: Uint8Array
  /** By document: which of the values it has, counted from 1; 0: none. */
  readonly #ranks = new Uint8Array(MAX_DOCS)
  protected count = 0

  constructor(bytes: number, isUuid: boolean) {
    this.kind = isUuid ? KINDS.uuid : KINDS.hex
    this.#bytes = bytes
    this.values = new Uint8Array(MAX_DOCS * bytes)
  }

  begin(): void {
    this.count = 0
    this.#ranks.fill(0)
  }

  take(doc: number, source: Uint8Array, start: number): number {
    const isUuid = this.kind !== KINDS.hex
    const bytes = this.#bytes
    const values = this.values
    if (source[start] !== QUOTE || source[start + 1 + 2 * bytes + (isUuid ? 4 : 0)] !== QUOTE) return NOWHERE
    let p = start + 1
    let at = bytes * this.count
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
    this.#ranks[doc] = ++this.count
    return p + 1
  }

  /** Writes the digits of a document's value without quotes, if it has one; returns where they end. */
  putDigits(doc: number, out: Uint8Array, at: number): number {
    const rank = this.#ranks[doc]!
    return rank === 0 ? at : putHexDigits(this.values, this.#bytes * (rank - 1), this.#bytes * rank, out, at)
  }

  write({ texts, plain }: Streams): void {
    texts.byte(this.#bytes)
    plain.add(this.values, 0, this.#bytes * this.count)
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

/** Strings of hex digits. */
export class HexReader implements ValueReader {
  readonly #width: number
  readonly #bytes: Uint8Array

  constructor(width: number, bytes: Uint8Array) {
    this.#width = width
    this.#bytes = bytes
  }

  put(_doc: number, rank: number, out: Uint8Array, at: number): number {
    out[at] = QUOTE
    const end = this.putDigits(rank, out, at + 1)
    out[end] = QUOTE
    return end + 1
  }

  putDigits(rank: number, out: Uint8Array, at: number): number {
    return putHexDigits(this.#bytes, this.#width * rank, this.#width * (rank + 1), out, at)
  }
}

function putHexDigits(bytes: Uint8Array, start: number, end: number, out: Uint8Array, at: number): number {
  let to = at
  for (let k = start; k < end; k++) {
    const byte = bytes[k]!
    out[to++] = HEX_DIGITS[byte >>> 4]!
    out[to++] = HEX_DIGITS[byte & 15]!
  }
  return to
}

export function putUuid(bytes: Uint8Array, start: number, out: Uint8Array, at: number): number {
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
