/**
 * The inverted index of a sealed segment, in two parts, both sorted by the terms' keys and cut into buckets by the key's high bits,
 * so that a lookup reads two small places.
 *
 * Rare terms (one document): per bucket 13 bits of key and the document. Another term may have the same 13 bits, so that the
 * reader looks at the document to be sure.
 * Common terms: per bucket `key (32 bits) · number of documents or length, and kind (varint) · documents`. Lists that are long stand apart, equal ones once.
 * A bucket, an empty one too, begins with a checksum of 16 bits, and a list that stands apart has one where it is named: a wrong bit is damage, never other documents.
 * Segments that were written before have no checksums; older ones have 16 bits of key in a rare term, and a byte or more for each document of a list.
 */

import { crc32 } from 'node:zlib'
import { keepShape } from '../../../../../memory/keep-shape.ts'
import { releaseBytes } from '../../../../../memory/release-bytes.ts'
import { bitsListed } from '../../../../bits.ts'
import { regrown } from '../../../../grown.ts'
import type { PostingSet } from '../../../index-storage.ts'
import type { TermTable } from '../../tail/term-table.ts'
import { bitsOf } from '../bytes/bit-numbers.ts'
import { bitsAtPlace, lowBits, packList, placeBehind, putBits, SPARE_BYTES, unpackList, unpackPassing } from './packed-lists.ts'

const RARE_PER_BUCKET = 64
const COMMON_PER_BUCKET = 16
/** Longer lists stand apart. */
const INLINE_BYTES = 48

/** Lists of more than one in so many documents have a byte for each: they are read faster, and bits would save little. */
const DENSE = 64

const isDense = (df: number, size: number): boolean => DENSE * df > size

/** Bits of a rare term's key below its bucket. */
const RARE_KEY_BITS = 13

const KIND_LIST = 0
const KIND_BITMAP = 1
const KIND_APART_LIST = 2
const KIND_APART_BITMAP = 3

export interface EncodedTerms {
  readonly rareBits: number
  readonly rareCount: number
  readonly commonBits: number
  /** `u32` offsets into `rare`, 2^rareBits + 1 of them. */
  readonly rareStarts: Uint32Array
  /** Per bucket its checksum, the number of its terms (varint), the documents, then the keys, packed. */
  readonly rare: Uint8Array
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
  common.beginSigned()
  yield* table.visitSorted((lo, hi, docs, df) => {
    if (df === 1) {
      rareKeys[rareCount] = hi
      rareDocs[rareCount++] = docs[0]!
      return
    }
    const own = commonBits === 0 ? 0 : hi >>> (32 - commonBits)
    while (bucket < own) commonStarts[bucket + 1] = common.nextSigned(bucket++)
    common.u32(keyBelow(hi, lo, commonBits))
    lists.add(docs, df, common)
  })
  while (bucket < (1 << commonBits) - 1) commonStarts[bucket + 1] = common.nextSigned(bucket++)
  commonStarts[bucket + 1] = common.endSigned(bucket)
  const rare = encodeRare(rareKeys, rareDocs, rareCount, size)
  releaseBytes(rareKeys)
  releaseBytes(rareDocs)
  return {
    ...rare,
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
  size: number,
): Pick<EncodedTerms, 'rareBits' | 'rareCount' | 'rareStarts' | 'rare'> {
  const rareBits = bitsFor(count, RARE_PER_BUCKET)
  const rareStarts = new Uint32Array((1 << rareBits) + 1)
  const rare = new ByteWriter(4 * count + 64)
  let from = 0
  for (let bucket = 0; bucket < 1 << rareBits; bucket++) {
    let end = from
    while (end < count && (rareBits === 0 || keys[end]! >>> (32 - rareBits) === bucket)) end++
    rare.beginSigned()
    if (end > from) encodeBucket(keys, docs, from, end, rareBits, docBits(size), rare)
    rareStarts[bucket + 1] = rare.endSigned(bucket)
    from = end
  }
  return { rareBits, rareCount: count, rareStarts, rare: rare.bytes() }
}

const docBits = (size: number): number => bitsOf(Math.max(0, size - 1))

/** Equal keys follow each other: with the number of a term in its bucket added each is larger than the one before. */
function encodeBucket(
  keys: Uint32Array,
  docs: Uint16Array,
  from: number,
  end: number,
  rareBits: number,
  bits: number,
  out: ByteWriter,
): void {
  const count = end - from
  const own = new Uint32Array(count)
  for (let k = 0; k < count; k++) own[k] = rareKey(keys[from + k]!, rareBits) + k
  const bytes = new Uint8Array(8 * count + SPARE_BYTES)
  let place = 0
  for (let k = from; k < end; k++) place = putBits(docs[k]!, bits, bytes, place)
  place = packList(own, count, lowBits(1 << RARE_KEY_BITS, count), bytes, place)
  out.varint(count)
  out.append(bytes, (place + 7) >>> 3)
}

const rareKey = (hi: number, rareBits: number): number => (hi << rareBits) >>> (32 - RARE_KEY_BITS)

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
    this.#scratch = new Uint8Array(3 * size + 64)
  }

  add(docs: Uint16Array, df: number, out: ByteWriter): void {
    const bitmapBytes = (this.#size + 7) >>> 3
    const isBitmap = df > bitmapBytes
    const length = isBitmap ? this.#bitmap(docs, df, bitmapBytes) : this.#list(docs, df)
    if (length <= INLINE_BYTES) {
      out.varint(isBitmap ? (length << 2) | KIND_BITMAP : (df << 2) | KIND_LIST)
      if (!isBitmap && isDense(df, this.#size)) out.varint(length)
      out.append(this.#scratch, length)
      return
    }
    out.varint(isBitmap ? (length << 2) | KIND_APART_BITMAP : (df << 2) | KIND_APART_LIST)
    if (!isBitmap) out.varint(length)
    const list = this.#scratch.subarray(0, length)
    out.u32(this.#place(list))
    out.u16(checksumOf(list, 0))
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

  #list(docs: Uint16Array, df: number): number {
    if (isDense(df, this.#size)) return this.#deltas(docs, df)
    this.#scratch[0] = 0
    return (packList(docs, df, lowBits(this.#size, df), this.#scratch, 0) + 7) >>> 3
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

/** `seed`: the number of a bucket, so that no other one passes for it. */
function checksumOf(bytes: Uint8Array, seed: number): number {
  const sum = crc32(bytes, seed)
  return (sum ^ (sum >>> 16)) & 0xffff
}

const CHECKSUM_BYTES = 2

class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer>
  length = 0
  #signedFrom = 0

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity)
  }

  #reserve(count: number): void {
    if (this.length + count > this.#bytes.length) this.#bytes = regrown(this.#bytes, Math.max(this.#bytes.length * 2, this.length + count))
  }

  /** A bucket begins. */
  beginSigned(): void {
    this.#signedFrom = this.length
    this.u16(0)
  }

  /** Writes the checksum of the bucket that ends; gives the place behind. */
  endSigned(bucket: number): number {
    const at = this.#signedFrom
    const sum = checksumOf(this.#bytes.subarray(at + CHECKSUM_BYTES, this.length), bucket)
    this.#bytes[at] = sum
    this.#bytes[at + 1] = sum >>> 8
    return this.length
  }

  nextSigned(bucket: number): number {
    const end = this.endSigned(bucket)
    this.beginSigned()
    return end
  }

  u16(value: number): void {
    this.#reserve(2)
    this.#bytes[this.length++] = value
    this.#bytes[this.length++] = value >>> 8
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

  append(bytes: Uint8Array, length = bytes.length): void {
    this.#reserve(length)
    for (let k = 0; k < length; k++) this.#bytes[this.length + k] = bytes[k]!
    this.length += length
  }

  holds(bytes: Uint8Array, at: number): boolean {
    for (let k = 0; k < bytes.length; k++) if (this.#bytes[at + k] !== bytes[k]) return false
    return true
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length)
  }
}

keepShape(new ListWriter(0))

/** Where the parts of the term index stand in the file. */
export interface TermSections {
  /** Documents of the segment; absent where rare terms and lists are not packed. */
  readonly docs?: number
  /** Buckets and lists have checksums; absent where a version without them wrote the segment. */
  readonly isChecked?: true
  readonly rareBits: number
  readonly rareStarts: number
  readonly rare: number
  readonly commonBits: number
  readonly commonStarts: number
  readonly common: number
  readonly apart: number
}

export type ReadAt = (length: number, position: number) => Buffer

/** The bytes of a bucket; none where it is empty. Throws where they are not as they were written. */
function bucketOf({ starts, entries, end: sectionEnd, entryBytes, isChecked }: Buckets, read: ReadAt, bucket: number): Buffer {
  const bounds = read(8, starts + 4 * bucket)
  const from = bounds.readUInt32LE(0)
  const end = bounds.readUInt32LE(4)
  if (isChecked !== true) return end === from ? NO_BYTES : read(entryBytes * (end - from), entries + entryBytes * from)
  if (end < from + CHECKSUM_BYTES || entries + end > sectionEnd) throw new Error('a list of terms does not lie where it must')
  const bytes = read(end - from, entries + from)
  const content = bytes.subarray(CHECKSUM_BYTES)
  assertChecksum(content, bytes.readUInt16LE(0), bucket)
  return content
}

/** Where buckets stand in the file. */
interface Buckets {
  readonly starts: number
  readonly entries: number
  readonly end: number
  readonly entryBytes: number
  readonly isChecked: true | undefined
}

const NO_BYTES = Buffer.alloc(0)

function assertChecksum(bytes: Uint8Array, checksum: number, seed: number): void {
  if (checksumOf(bytes, seed) !== checksum) throw new Error('a list of terms is not as it was written: its checksum does not fit')
}

/** Documents that may be the only ones to hold the term: to be verified. */
export function rareCandidates(sections: TermSections, read: ReadAt, hi: number): number[] {
  const { rareBits, docs, rareStarts: starts, rare: entries, commonStarts: end, isChecked } = sections
  const bucket = rareBits === 0 ? 0 : hi >>> (32 - rareBits)
  const bytes = bucketOf({ starts, entries, end, entryBytes: docs === undefined ? 4 : 1, isChecked }, read, bucket)
  if (bytes.length === 0) return []
  return docs === undefined ? oldCandidates(bytes, (hi << rareBits) >>> 16) : candidates(bytes, docBits(docs), rareKey(hi, rareBits))
}

function candidates(bytes: Buffer, bits: number, key: number): number[] {
  const cursor: Cursor = { at: 0 }
  const count = readVarint(bytes, cursor)
  const from = 8 * cursor.at
  const keys = unpackPassing(bytes, from + bits * count, count, lowBits(1 << RARE_KEY_BITS, count))
  const found: number[] = []
  for (let k = 0; k < count; k++) if (keys[k] === key + k) found.push(bitsAtPlace(bytes, from + bits * k, bits))
  return found
}

function oldCandidates(entries: Buffer, key: number): number[] {
  const found: number[] = []
  for (let at = 0; at < entries.length; at += 4) if (entries.readUInt16LE(at) === key) found.push(entries.readUInt16LE(at + 2))
  return found
}

/** The documents of a common term; undefined when no common term has this key. */
export function commonDocuments(sections: TermSections, read: ReadAt, lo: number, hi: number): PostingSet | undefined {
  const { commonBits, commonStarts: starts, common: entries, apart: end, isChecked } = sections
  const bucket = commonBits === 0 ? 0 : hi >>> (32 - commonBits)
  const bytes = bucketOf({ starts, entries, end, entryBytes: 1, isChecked }, read, bucket)
  const key = keyBelow(hi, lo, commonBits)
  const cursor: Cursor = { at: 0 }
  const { docs } = sections
  while (cursor.at < bytes.length) {
    const isFound = bytes.readUInt32LE(cursor.at) === key
    cursor.at += 4
    const word = readVarint(bytes, cursor)
    const kind = word & 3
    const count = word >>> 2
    const isList = kind === KIND_LIST || kind === KIND_APART_LIST
    const isPacked = docs !== undefined && isList && !isDense(count, docs)
    if (isPacked && kind === KIND_LIST) {
      const bits = lowBits(docs, count)
      if (isFound) return { list: unpackList(bytes, 8 * cursor.at, count, bits) }
      unpackPassing(bytes, 8 * cursor.at, count, bits)
      cursor.at = (placeBehind + 7) >>> 3
      continue
    }
    const length = docs !== undefined && isList ? readVarint(bytes, cursor) : count
    const isApart = kind >= KIND_APART_LIST
    if (isFound) {
      const list = isApart ? read(length, sections.apart + bytes.readUInt32LE(cursor.at)) : bytes.subarray(cursor.at, cursor.at + length)
      if (isApart && isChecked === true) assertChecksum(list, bytes.readUInt16LE(cursor.at + 4), 0)
      if (!isList) return { bits: fromBitmap(list) }
      return { list: isPacked ? unpackList(list, 0, count, lowBits(docs, count)) : fromDeltas(list) }
    }
    cursor.at += !isApart ? length : isChecked === true ? 4 + CHECKSUM_BYTES : 4
  }
  return undefined
}

interface Cursor {
  at: number
}

function readVarint(bytes: Buffer, cursor: Cursor): number {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[cursor.at++]
    if (byte === undefined) throw new Error('a list of terms ends too soon')
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
