/** Columns in memory, over the tail. */
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import { regrown } from '../../../grown.ts'
import type { Column } from '../../index-storage.ts'
import { CodeRow, NumberRow, ValueDocs } from './column-arrays.ts'

/** A keyword column takes at most this many distinct values … */
const MAX_CODES = 65_535
/** … of at most this many bytes, and gives up when more than an eighth of its values are new beyond this many. */
const MAX_VALUE_BYTES = 512
const FREE_CODES = 2048
/** Memory of a column and of a value of its dictionary beside their content, about. */
const COLUMN_BYTES = 512
const STRING_BYTES = 24

/** The values of one keyword field over the tail, as dictionary codes; code 0 is "no value". */
export class KeywordTail {
  /** Indexed by code. */
  readonly dictionary: string[] = ['']
  /** `[lo, hi]` of the value by code. */
  hashes = new Int32Array(32)
  readonly docs = new ValueDocs()
  readonly #codes = new CodeRow()
  /** Some values stand in the term table instead. */
  isPartial = false
  #table = new Uint16Array(64)
  #last = 0
  #dictionaryBytes = 0
  /** The codes by document and their values, as far as they were asked for: documents come to a tail, and none changes. */
  #byDoc: Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> = new Uint8Array(0)
  #shown = 0
  #dictionary: readonly string[] = ['']

  get sizeBytes(): number {
    const { docs, hashes } = this
    const arrays = docs.sizeBytes + this.#codes.sizeBytes + hashes.byteLength + this.#table.byteLength + this.#byDoc.byteLength
    return COLUMN_BYTES + arrays + this.#dictionaryBytes
  }

  /** −1: index the term instead. */
  code(lo: number, hi: number, bytes: Uint8Array, start: number, end: number): number {
    const { hashes } = this
    const last = this.#last
    if (last !== 0 && hashes[2 * last] === lo && hashes[2 * last + 1] === hi) return last
    const mask = this.#table.length - 1
    let at = hi & mask
    for (let code = this.#table[at]!; code !== 0; code = this.#table[at]!) {
      if (hashes[2 * code] === lo && hashes[2 * code + 1] === hi) {
        this.#last = code
        return code
      }
      at = (at + 1) & mask
    }
    return this.#addCode(at, lo, hi, bytes, start, end)
  }

  #addCode(at: number, lo: number, hi: number, bytes: Uint8Array, start: number, end: number): number {
    const code = this.dictionary.length
    if (code > MAX_CODES || end - start > MAX_VALUE_BYTES || (code > FREE_CODES && code * 8 > this.docs.count)) {
      this.isPartial = true
      return -1
    }
    return this.#insert(at, lo, hi, Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'))
  }

  /** Gives the next code to a value that has none and that another column of the same documents has taken. */
  learn(lo: number, hi: number, value: string): void {
    const mask = this.#table.length - 1
    let at = hi & mask
    while (this.#table[at] !== 0) at = (at + 1) & mask
    this.#insert(at, lo, hi, value)
  }

  #insert(at: number, lo: number, hi: number, value: string): number {
    const code = this.dictionary.length
    this.dictionary.push(value)
    this.#dictionaryBytes += STRING_BYTES + value.length
    if (this.hashes.length < 2 * code + 2) this.hashes = regrown(this.hashes)
    this.hashes[2 * code] = lo
    this.hashes[2 * code + 1] = hi
    this.#table[at] = code
    if (code * 2 > this.#table.length) this.#rehash()
    this.#last = code
    return code
  }

  #rehash(): void {
    const table = new Uint16Array(this.#table.length * 4)
    const mask = table.length - 1
    for (let code = 1; code < this.dictionary.length; code++) {
      let at = this.hashes[2 * code + 1]! & mask
      while (table[at] !== 0) at = (at + 1) & mask
      table[at] = code
    }
    releaseBytes(this.#table)
    this.#table = table
  }

  /** Gives the memory of all but the columns that were asked for back: no value is added any more. */
  release(): void {
    this.docs.release()
    this.#codes.release()
    for (const each of [this.hashes, this.#table]) releaseBytes(each)
  }

  append(doc: number, code: number): void {
    this.#codes.append(this.docs.count, code)
    this.docs.append(doc)
  }

  /** In the order of documents. */
  get codes(): Uint8Array | Uint16Array {
    return this.#codes.first(this.docs.count)
  }

  /** Over the first `size` documents; undefined when codes do not tell all. */
  column(size: number): Column | undefined {
    const { docs } = this
    if (docs.isMulti || this.isPartial) return undefined
    if (this.#dictionary.length !== this.dictionary.length) this.#dictionary = this.dictionary.slice()
    const isByDocument = docs.list === undefined && docs.count >= size
    return { kind: 'keyword', codes: isByDocument ? this.#codes.shown(size) : this.#codesByDoc(size), dictionary: this.#dictionary }
  }

  #codesByDoc(size: number): Uint8Array | Uint16Array {
    const { docs } = this
    const isWide = this.dictionary.length > 256
    if (size > this.#byDoc.length || isWide !== this.#byDoc instanceof Uint16Array) {
      const before = this.#byDoc
      const length = Math.max(size, size > before.length ? 2 * before.length : before.length)
      this.#byDoc = isWide ? new Uint16Array(length) : new Uint8Array(length)
      this.#byDoc.set(before)
    }
    for (; this.#shown < docs.count && docs.of(this.#shown) < size; this.#shown++)
      this.#byDoc[docs.of(this.#shown)] = this.#codes.at(this.#shown)
    return this.#byDoc.subarray(0, size)
  }

  /** Documents below `size` with this key; each once. */
  documents(lo: number, hi: number, size: number): Uint32Array {
    let wanted = 0
    for (let code = 1; code < this.dictionary.length && wanted === 0; code++)
      if (this.hashes[2 * code] === lo && this.hashes[2 * code + 1] === hi) wanted = code
    if (wanted === 0) return new Uint32Array(0)
    return documentsOfCode(this.docs.list, this.codes, wanted, size)
  }
}

/** Documents below `size` whose code is `wanted`, out of ascending pairs; without `docs` code k is that of document k. */
export function documentsOfCode(
  docs: Uint16Array | undefined,
  codes: Uint8Array | Uint16Array,
  wanted: number,
  size = Number.POSITIVE_INFINITY,
): Uint32Array {
  const end = docs === undefined ? Math.min(size, codes.length) : codes.length
  let most = 0
  for (let k = 0; k < end; k++) if (codes[k] === wanted) most++
  const found = new Uint32Array(most)
  let count = 0
  for (let k = 0; k < end && count < most; k++) {
    if (codes[k] !== wanted) continue
    const doc = docs === undefined ? k : docs[k]!
    if (doc >= size) break
    if (count === 0 || found[count - 1] !== doc) found[count++] = doc
  }
  return found.subarray(0, count)
}

/** The values of one numeric, boolean or date field over the tail. */
export class NumberTail {
  readonly docs = new ValueDocs()
  readonly #values = new NumberRow()
  /** The values by document, as far as they were asked for: documents come to a tail, and none changes. */
  #byDoc = new Float64Array(0)
  #shown = 0

  get sizeBytes(): number {
    return COLUMN_BYTES + this.docs.sizeBytes + this.#values.sizeBytes + this.#byDoc.byteLength
  }

  append(doc: number, value: number): void {
    this.#values.append(this.docs.count, value)
    this.docs.append(doc)
  }

  /** In the order of documents. */
  get values(): Float64Array {
    return this.#values.first(this.docs.count)
  }

  /** As that of a keyword column. */
  release(): void {
    this.docs.release()
    this.#values.release()
  }

  /** Over the first `size` documents. */
  column(size: number): Column | undefined {
    const { docs } = this
    if (docs.isMulti) return undefined
    if (size > this.#byDoc.length) {
      const before = this.#byDoc
      this.#byDoc = new Float64Array(Math.max(size, 2 * before.length)).fill(Number.NaN, before.length)
      this.#byDoc.set(before)
    }
    for (; this.#shown < docs.count && docs.of(this.#shown) < size; this.#shown++)
      this.#byDoc[docs.of(this.#shown)] = this.#values.at(this.#shown)
    return { kind: 'number', values: this.#byDoc.subarray(0, size) }
  }
}
