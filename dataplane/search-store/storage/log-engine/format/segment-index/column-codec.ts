/** A column on disk: the values of one field of all documents of a sealed segment. */
import { decompressInto } from '../../../../../compression/zstd.ts'
import type { Column } from '../../../index-storage.ts'
import type { ValueDocs } from '../../tail/column-arrays.ts'
import { documentsOfCode, type KeywordTail, type NumberTail } from '../../tail/tail-columns.ts'
import { PackedNumbers, packNumbers } from './number-blocks.ts'

/** Where a compressed section stands, from the start of the index part: offset, bytes, bytes unpacked. */
export type Span = readonly [offset: number, bytes: number, rawBytes: number]

export type WriteSection = (raw: Uint8Array) => Span
export type ReadSection = (span: Span) => Buffer

/** The entry of one field's column in the directory of a sealed segment. */
export interface ColumnEntry {
  readonly kind: 'keyword' | 'number'
  readonly count: number
  readonly isMulti: boolean
  readonly isPartial: boolean
  /** Absent where every document has exactly one value. */
  readonly docs?: Span
  readonly values: Span
  /** Bytes per code or number; 8 is a double. */
  readonly width: 1 | 2 | 4 | 8
  /** The numbers are `PackedNumbers`; absent where each has `width` bytes. */
  readonly isPacked?: boolean
  /** Added to whole numbers. */
  readonly base: number
  /** JSON array of the values by code. */
  readonly dictionary?: Span
}

export function encodeKeywords(column: KeywordTail, size: number, write: WriteSection): ColumnEntry {
  const { codes, isPartial, dictionary } = column
  const { count, isMulti } = column.docs
  const width = dictionary.length <= 256 ? 1 : 2
  return {
    kind: 'keyword',
    count,
    isMulti,
    isPartial,
    ...docsOf(column, size, write),
    values: write(bytesOf(width === 2 && codes instanceof Uint8Array ? Uint16Array.from(codes) : codes)),
    width,
    base: 0,
    dictionary: write(Buffer.from(JSON.stringify(dictionary))),
  }
}

/** `isInBlocks`: packed, where each document has one whole number and those are not too far apart. */
export function encodeNumbers(column: NumberTail, size: number, isInBlocks: boolean, write: WriteSection): ColumnEntry {
  const { values } = column
  const { count, isMulti } = column.docs
  const { width, base } = widthOf(values)
  const isPacked = isInBlocks && width < 8 && isDense(column, size)
  return {
    kind: 'number',
    count,
    isMulti,
    isPartial: false,
    ...docsOf(column, size, write),
    values: write(bytesOf(isPacked ? packNumbers(narrowed(values, 4, base) as Uint32Array) : narrowed(values, width, base))),
    width,
    ...(isPacked && { isPacked }),
    base,
  }
}

const isDense = ({ docs }: KeywordTail | NumberTail, size: number): boolean => docs.count === size && !docs.isMulti

function docsOf(column: KeywordTail | NumberTail, size: number, write: WriteSection): { docs?: Span } {
  return isDense(column, size) ? {} : { docs: write(bytesOf(deltas(column.docs))) }
}

function deltas(docs: ValueDocs): Uint16Array {
  const out = new Uint16Array(docs.count)
  for (let k = 0; k < out.length; k++) out[k] = k === 0 ? docs.of(0) : docs.of(k) - docs.of(k - 1)
  return out
}

function widthOf(values: Float64Array): { width: 1 | 2 | 4 | 8; base: number } {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (let k = 0; k < values.length; k++) {
    const value = values[k]!
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) return { width: 8, base: 0 }
    if (value < low) low = value
    if (value > high) high = value
  }
  if (values.length === 0) return { width: 1, base: 0 }
  const range = high - low
  if (range >= 2 ** 32) return { width: 8, base: 0 }
  return { width: range < 256 ? 1 : range < 65_536 ? 2 : 4, base: low }
}

function narrowed(values: Float64Array, width: 1 | 2 | 4 | 8, base: number): Uint8Array | Uint16Array | Uint32Array | Float64Array {
  if (width === 8) return values
  const out = width === 1 ? new Uint8Array(values.length) : width === 2 ? new Uint16Array(values.length) : new Uint32Array(values.length)
  for (let k = 0; k < values.length; k++) out[k] = values[k]! - base
  return out
}

function bytesOf(array: Uint8Array | Uint16Array | Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
}

/** A column read back; `docs` is undefined where document k has value k. */
export interface LoadedColumn {
  readonly entry: ColumnEntry
  readonly docs: Uint16Array | undefined
  readonly codes: Uint8Array | Uint16Array
  readonly numbers: Float64Array
  /** In place of `numbers`, where they are packed. */
  readonly blocks: PackedNumbers | undefined
  readonly dictionary: readonly string[]
  readonly sizeBytes: number
}

const NO_CODES = new Uint8Array(0)
const NO_NUMBERS = new Float64Array(0)

/** `dictionary`: of the entry, where it has one. */
export function loadColumn(entry: ColumnEntry, dictionary: readonly string[], read: ReadSection): LoadedColumn {
  const docs = entry.docs === undefined ? undefined : sums(aligned16(read(entry.docs)))
  const values = read(entry.values)
  const isKeyword = entry.kind === 'keyword'
  const codes = isKeyword ? aligned<Uint8Array | Uint16Array>(values, entry.width === 1 ? Uint8Array : Uint16Array) : NO_CODES
  const blocks = entry.isPacked === true ? new PackedNumbers(aligned(values, Uint32Array), entry.count, entry.base) : undefined
  const numbers = isKeyword || blocks !== undefined ? NO_NUMBERS : widened(values, entry.width, entry.base)
  const numberBytes = numbers.byteLength + (blocks?.sizeBytes ?? 0)
  const sizeBytes = 2 * (docs?.length ?? 0) + codes.byteLength + numberBytes + 200
  return { entry, docs, codes, numbers, blocks, dictionary, sizeBytes }
}

/** Memory of a dictionary, about. */
export const dictionaryBytes = ({ dictionary }: ColumnEntry): number => 2 * (dictionary?.[2] ?? 0) + 100

export function readDictionary({ dictionary }: ColumnEntry, read: ReadSection): readonly string[] {
  return dictionary === undefined ? [] : (JSON.parse(read(dictionary).toString()) as string[])
}

type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array

/** The bytes as numbers; copied where they do not stand as numbers have to. */
export function aligned<T extends Numbers>(
  bytes: Uint8Array,
  type: { readonly BYTES_PER_ELEMENT: number; new (buffer: ArrayBufferLike, at: number, length: number): T },
): T {
  const width = type.BYTES_PER_ELEMENT
  const own = bytes.byteOffset % width === 0 ? bytes : new Uint8Array(bytes)
  return new type(own.buffer, own.byteOffset, own.length / width)
}

function aligned16(bytes: Buffer): Uint16Array {
  return aligned(bytes, Uint16Array)
}

function sums(docs: Uint16Array): Uint16Array {
  for (let k = 1; k < docs.length; k++) docs[k] = docs[k]! + docs[k - 1]!
  return docs
}

function widened(bytes: Buffer, width: 1 | 2 | 4 | 8, base: number): Float64Array {
  if (width === 8) return aligned(bytes, Float64Array)
  const narrow = width === 1 ? bytes : width === 2 ? aligned16(bytes) : aligned(bytes, Uint32Array)
  const out = new Float64Array(narrow.length)
  for (let k = 0; k < narrow.length; k++) out[k] = narrow[k]! + base
  return out
}

let passing = new Float64Array(0)

/**
 * The doubles of a column with one for each document, until the next one is read; undefined for other columns. They are not worth their place in a
 * cache, nor memory of their own for each segment. `readPacked` gives the bytes as they stand in the file.
 */
export function readPassing(
  { kind, docs, isMulti, width, isPacked, values }: ColumnEntry,
  readPacked: (span: Span) => Buffer,
): Float64Array | undefined {
  if (kind !== 'number' || docs !== undefined || isMulti || width < 8 || isPacked) return undefined
  const count = values[2] / width
  if (passing.length <= count) passing = new Float64Array(count + 1)
  decompressInto(readPacked(values), new Uint8Array(passing.buffer), values[2])
  return passing.subarray(0, count)
}

/** As queries see it; undefined where a document may have several values or some are not in the column. `unpack` keeps numbers that it has unpacked. */
export function columnOf(loaded: LoadedColumn, size: number, unpack: (blocks: PackedNumbers) => Float64Array): Column | undefined {
  const { entry, docs, codes, numbers, blocks, dictionary } = loaded
  if (entry.isMulti || entry.isPartial) return undefined
  if (entry.kind === 'keyword') return { kind: 'keyword', codes: docs === undefined ? codes : spread(codes, docs, size), dictionary }
  if (blocks !== undefined)
    return {
      kind: 'number',
      get values() {
        return unpack(blocks)
      },
      blocks,
    }
  return { kind: 'number', values: docs === undefined ? numbers : spreadNumbers(numbers, docs, size) }
}

function spread(codes: Uint8Array | Uint16Array, docs: Uint16Array, size: number): Uint8Array | Uint16Array {
  const out = codes instanceof Uint8Array ? new Uint8Array(size) : new Uint16Array(size)
  for (let k = 0; k < docs.length; k++) out[docs[k]!] = codes[k]!
  return out
}

function spreadNumbers(numbers: Float64Array, docs: Uint16Array, size: number): Float64Array {
  const out = new Float64Array(size).fill(Number.NaN)
  for (let k = 0; k < docs.length; k++) out[docs[k]!] = numbers[k]!
  return out
}

/** Documents whose value is `term`. */
export function columnPostings(loaded: LoadedColumn, term: string): Uint32Array {
  const wanted = loaded.dictionary.indexOf(term, 1)
  if (wanted < 0) return new Uint32Array(0)
  const { docs, codes } = loaded
  return documentsOfCode(docs, codes, wanted)
}
