/**
 * The inverted index of a sealed segment, in two parts, both sorted by the terms' keys and cut into buckets by the key's high bits,
 * so that a lookup reads two small places.
 *
 * Rare terms (one document): per bucket 16 bits of key and the document. Another term may have the same 16 bits, so that the
 * reader looks at the document to be sure.
 * Common terms: per bucket `key (32 bits) · length and kind (varint) · documents`. Lists that are long stand apart, equal ones once.
 */
import { bitsListed } from '../../../bits.ts'
import { grown } from '../../../grown.ts'
import type { PostingSet } from '../../index-storage.ts'
import type { TermTable } from '../tail/term-table.ts'

const RARE_PER_BUCKET = 64
const COMMON_PER_BUCKET = 16
/** Longer lists stand apart. */
const INLINE_BYTES = 48

const KIND_DELTAS = 0
const KIND_BITMAP = 1
const KIND_APART_DELTAS = 2
const KIND_APART_BITMAP = 3

export interface EncodedTerms {
  readonly rareBits: number
  readonly rareCount: number
  readonly commonBits: number
  /** `u32` counts up to each bucket, 2^rareBits + 1 of them. */
  readonly rareStarts: Uint32Array
  /** Per term `u16` key, `u16` document. */
  readonly rare: Uint16Array
  /** `u32` offsets into `common`, 2^commonBits + 1 of them. */
  readonly commonStarts: Uint32Array
  readonly common: Uint8Array
  readonly apart: Uint8Array
}

/** With a pause now and then, in which no term may be added. */
export function* encodeTerms(table: TermTable, size: number): Generator<void, EncodedTerms, undefined> {
  const rareKeys: Uint32Array = new Uint32Array(table.size)
  const rareDocs = new Uint16Array(table.size)
  let rareCount = 0
  const commonBits = bitsFor(table.size / 8, COMMON_PER_BUCKET)
  const commonStarts = new Uint32Array((1 << commonBits) + 1)
  const common = new ByteWriter(1 << 16)
  const lists = new ListWriter(size)
  let bucket = 0
  yield* table.visitSorted((lo, hi, docs, df) => {
    if (df === 1) {
      rareKeys[rareCount] = hi
      rareDocs[rareCount++] = docs[0]!
      return
    }
    const own = commonBits === 0 ? 0 : hi >>> (32 - commonBits)
    while (bucket < own) commonStarts[++bucket] = common.length
    common.u32(keyBelow(hi, lo, commonBits))
    lists.add(docs, df, common)
  })
  while (bucket < 1 << commonBits) commonStarts[++bucket] = common.length
  return {
    ...encodeRare(rareKeys, rareDocs, rareCount),
    commonBits,
    commonStarts,
    common: common.bytes(),
    apart: lists.apart.bytes(),
  }
}

function encodeRare(
  keys: Uint32Array,
  docs: Uint16Array,
  count: number,
): Pick<EncodedTerms, 'rareBits' | 'rareCount' | 'rareStarts' | 'rare'> {
  const rareBits = bitsFor(count, RARE_PER_BUCKET)
  const rareStarts = new Uint32Array((1 << rareBits) + 1)
  const rare = new Uint16Array(2 * count)
  let bucket = 0
  for (let k = 0; k < count; k++) {
    const own = rareBits === 0 ? 0 : keys[k]! >>> (32 - rareBits)
    while (bucket < own) rareStarts[++bucket] = k
    rare[2 * k] = (keys[k]! << rareBits) >>> 16
    rare[2 * k + 1] = docs[k]!
  }
  while (bucket < 1 << rareBits) rareStarts[++bucket] = count
  return { rareBits, rareCount: count, rareStarts, rare }
}

const bitsFor = (count: number, perBucket: number) => Math.max(0, Math.min(16, Math.ceil(Math.log2(Math.max(1, count / perBucket)))))

/** The 32 bits of the key below its bucket number. */
function keyBelow(hi: number, lo: number, bits: number): number {
  return bits === 0 ? hi >>> 0 : ((hi << bits) | (lo >>> (32 - bits))) >>> 0
}

/** Encodes document lists, sharing equal long ones. */
class ListWriter {
  readonly apart = new ByteWriter(1 << 16)
  readonly #size: number
  readonly #seen = new Map<string, number>()
  readonly #scratch: Uint8Array

  constructor(size: number) {
    this.#size = size
    this.#scratch = new Uint8Array(3 * size + 16)
  }

  add(docs: Uint16Array, df: number, out: ByteWriter): void {
    const bitmapBytes = (this.#size + 7) >>> 3
    const isBitmap = df > bitmapBytes
    const length = isBitmap ? this.#bitmap(docs, df, bitmapBytes) : this.#deltas(docs, df)
    const bytes = this.#scratch.subarray(0, length)
    if (length <= INLINE_BYTES) {
      out.varint((length << 2) | (isBitmap ? KIND_BITMAP : KIND_DELTAS))
      out.append(bytes)
      return
    }
    out.varint((length << 2) | (isBitmap ? KIND_APART_BITMAP : KIND_APART_DELTAS))
    out.u32(this.#place(bytes))
  }

  #place(bytes: Uint8Array): number {
    const key = fingerprint(bytes)
    const known = this.#seen.get(key)
    if (known !== undefined && this.apart.holds(bytes, known)) return known
    const at = this.apart.length
    this.#seen.set(key, at)
    this.apart.append(bytes)
    return at
  }

  #bitmap(docs: Uint16Array, df: number, length: number): number {
    const bytes = this.#scratch
    bytes.fill(0, 0, length)
    for (let k = 0; k < df; k++) bytes[docs[k]! >>> 3]! |= 1 << (docs[k]! & 7)
    return length
  }

  #deltas(docs: Uint16Array, df: number): number {
    const bytes = this.#scratch
    let at = 0
    let before = -1
    for (let k = 0; k < df; k++) {
      let delta = docs[k]! - before - 1
      before = docs[k]!
      while (delta >= 0x80) {
        bytes[at++] = (delta & 0x7f) | 0x80
        delta >>>= 7
      }
      bytes[at++] = delta
    }
    return at
  }
}

function fingerprint(bytes: Uint8Array): string {
  let a = 1
  let b = 7
  for (let k = 0; k < bytes.length; k++) {
    a = Math.imul(a ^ bytes[k]!, 0x9e3779b1)
    b = Math.imul((b << 5) | (b >>> 27), 0x85ebca6b) ^ bytes[k]!
  }
  return `${bytes.length}:${a}:${b}`
}

class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer>
  length = 0

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity)
  }

  #reserve(count: number): void {
    if (this.length + count > this.#bytes.length) this.#bytes = grown(this.#bytes, Math.max(this.#bytes.length * 2, this.length + count))
  }

  u32(value: number): void {
    this.#reserve(4)
    for (let shift = 0; shift < 32; shift += 8) this.#bytes[this.length++] = value >>> shift
  }

  varint(value: number): void {
    this.#reserve(5)
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.length++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.#bytes[this.length++] = rest
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    for (let k = 0; k < bytes.length; k++) this.#bytes[this.length + k] = bytes[k]!
    this.length += bytes.length
  }

  holds(bytes: Uint8Array, at: number): boolean {
    for (let k = 0; k < bytes.length; k++) if (this.#bytes[at + k] !== bytes[k]) return false
    return true
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length)
  }
}

/** Where the parts of the term index stand in the file. */
export interface TermSections {
  readonly rareBits: number
  readonly rareStarts: number
  readonly rare: number
  readonly commonBits: number
  readonly commonStarts: number
  readonly common: number
  readonly apart: number
}

export type ReadAt = (length: number, position: number) => Buffer

/** Documents that may be the only ones to hold the term: to be verified. */
export function rareCandidates(sections: TermSections, read: ReadAt, hi: number): number[] {
  const { rareBits } = sections
  const bucket = rareBits === 0 ? 0 : hi >>> (32 - rareBits)
  const starts = read(8, sections.rareStarts + 4 * bucket)
  const from = starts.readUInt32LE(0)
  const count = starts.readUInt32LE(4) - from
  if (count === 0) return []
  const entries = read(4 * count, sections.rare + 4 * from)
  const key = (hi << rareBits) >>> 16
  const found: number[] = []
  for (let k = 0; k < count; k++) if (entries.readUInt16LE(4 * k) === key) found.push(entries.readUInt16LE(4 * k + 2))
  return found
}

/** The documents of a common term; undefined when no common term has this key. */
export function commonDocuments(sections: TermSections, read: ReadAt, lo: number, hi: number): PostingSet | undefined {
  const { commonBits } = sections
  const bucket = commonBits === 0 ? 0 : hi >>> (32 - commonBits)
  const starts = read(8, sections.commonStarts + 4 * bucket)
  const from = starts.readUInt32LE(0)
  const end = starts.readUInt32LE(4)
  if (end === from) return undefined
  const bytes = read(end - from, sections.common + from)
  const key = keyBelow(hi, lo, commonBits)
  const cursor: Cursor = { at: 0 }
  while (cursor.at < bytes.length) {
    const stored = bytes.readUInt32LE(cursor.at)
    cursor.at += 4
    const word = readVarint(bytes, cursor)
    const kind = word & 3
    const length = word >>> 2
    const isApart = kind >= KIND_APART_DELTAS
    if (stored === key) {
      const list = isApart ? read(length, sections.apart + bytes.readUInt32LE(cursor.at)) : bytes.subarray(cursor.at, cursor.at + length)
      return kind === KIND_BITMAP || kind === KIND_APART_BITMAP ? { bits: fromBitmap(list) } : { list: fromDeltas(list) }
    }
    cursor.at += isApart ? 4 : length
  }
  return undefined
}

interface Cursor {
  at: number
}

function readVarint(bytes: Buffer, cursor: Cursor): number {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[cursor.at++]!
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) return value >>> 0
  }
}

function fromDeltas(list: Buffer): Uint32Array {
  const docs = new Uint32Array(list.length)
  let count = 0
  let before = -1
  for (let at = 0; at < list.length; ) {
    let byte = list[at++]!
    let delta = byte & 0x7f
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = list[at++]!
      delta |= (byte & 0x7f) << shift
    }
    before += delta + 1
    docs[count++] = before
  }
  return docs.subarray(0, count)
}

function fromBitmap(list: Buffer): Uint32Array {
  const words = new Uint32Array((list.length + 3) >>> 2)
  new Uint8Array(words.buffer).set(list)
  return words
}

export const listOf = (set: PostingSet): Uint32Array => ('bits' in set ? bitsListed(set.bits) : set.list)
