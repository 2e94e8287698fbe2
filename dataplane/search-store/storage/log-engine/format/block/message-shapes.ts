/**
 * Which messages of a segment have the same words in the same order, but for words with digits, of which only the place counts. A segment of logs has
 * a few hundred such shapes: a phrase or a prefix is looked for in those, not in each text.
 */
import { grown } from '../../../../grown.ts'
import type { TextShapes } from '../../../index-storage.ts'
import { aligned, type ReadSection, type Span, type WriteSection } from '../segment-index/column-codec.ts'
import { bringsPairs } from '../segment-index/word-pairs.ts'
import { addByteHi, addByteLo } from '../term-hash.ts'

/** Messages with shapes beyond these have none. */
const MAX_SHAPES = 2_048
/** Characters of all shapes of a segment. */
const MAX_LENGTH = 256 * 1024
/** A power of two. */
const TABLE_SIZE = 4 * MAX_SHAPES
/** Memory of a shape beside its text, about. */
const SHAPE_BYTES = 100

/** Stands in a shape for each word with digits or underscores. */
export const NUMBERED = '0'

/** The hash of a numbered word in a shape. */
export const NUMBERED_LO = 0x3c6ef372
export const NUMBERED_HI = 0x1f83d9ab

/** The two lanes of a shape's hash, from 0, for the lanes of each word's own. The tokenizer repeats them inline. */
export const addWordLo = addByteLo
export const addWordHi = addByteHi

/** The shapes of the messages of a tail. */
export class MessageShapes {
  readonly starts = new NumberedStarts()
  /** By code; 0: no shape. */
  readonly #texts: string[] = ['']
  /** `[lo, hi]` of each shape by code. */
  readonly #hashes = new Int32Array(2 * (MAX_SHAPES + 1))
  /** Codes by hash, open addressing; 0: free. */
  readonly #table = new Uint16Array(TABLE_SIZE)
  #last = 0
  #byDoc = new Uint16Array(1_024)
  #length = 0

  get sizeBytes(): number {
    return this.#byDoc.byteLength + this.#length + SHAPE_BYTES * this.#texts.length
  }

  /** The code of a shape by its hash; −1: it is new, and to be added. */
  find(lo: number, hi: number): number {
    const code = this.#isAt(this.#last, lo, hi) ? this.#last : this.#table[this.#placeOf(lo, hi)]!
    if (code === 0) return this.#texts.length > MAX_SHAPES ? 0 : -1
    this.#last = code
    return code
  }

  /** Whether the shape of a text of so many bytes is sure to be kept. */
  hasRoom(bytes: number): boolean {
    return this.#length + bytes <= MAX_LENGTH
  }

  /** The code of a new shape, of a text with these words; 0: it is kept no more. */
  add(lo: number, hi: number, words: readonly string[]): number {
    return this.addText(lo, hi, words.map(word => (bringsPairs(word) ? word : NUMBERED)).join(' '))
  }

  /** The same for a shape as it is kept. */
  addText(lo: number, hi: number, text: string): number {
    if (this.#length + text.length > MAX_LENGTH) return 0
    this.#length += text.length
    const code = this.#texts.push(text) - 1
    this.#table[this.#placeOf(lo, hi)] = code
    this.#hashes[2 * code] = lo
    this.#hashes[2 * code + 1] = hi
    return code
  }

  /** Whether new shapes are not kept any more. */
  get isFull(): boolean {
    return this.#texts.length > MAX_SHAPES || this.#length > MAX_LENGTH / 2
  }

  shape(code: number): { readonly lo: number; readonly hi: number; readonly text: string } {
    return { lo: this.#hashes[2 * code]!, hi: this.#hashes[2 * code + 1]!, text: this.#texts[code]! }
  }

  #isAt(code: number, lo: number, hi: number): boolean {
    return code !== 0 && this.#hashes[2 * code] === lo && this.#hashes[2 * code + 1] === hi
  }

  /** Where the shape stands in the table, or a free place. */
  #placeOf(lo: number, hi: number): number {
    let at = (hi ^ lo) & (TABLE_SIZE - 1)
    while (this.#table[at] !== 0 && !this.#isAt(this.#table[at]!, lo, hi)) at = (at + 1) & (TABLE_SIZE - 1)
    return at
  }

  append(doc: number, code: number): void {
    if (code === 0) return
    if (doc >= this.#byDoc.length) this.#byDoc = grown(this.#byDoc, Math.max(doc + 1, 2 * this.#byDoc.length))
    this.#byDoc[doc] = code
  }

  /** Undefined where no message has a shape. */
  encode(size: number, write: WriteSection): ShapesEntry | undefined {
    const texts = this.#texts
    if (texts.length === 1) return undefined
    const codes = texts.length <= 256 ? new Uint8Array(size) : new Uint16Array(size)
    codes.set(this.#byDoc.subarray(0, size))
    return {
      codes: write(new Uint8Array(codes.buffer)),
      texts: write(Buffer.from(JSON.stringify(texts))),
      starts: write(this.starts.toBytes()),
    }
  }
}

/** Where shapes stand in a sealed segment. */
export interface ShapesEntry {
  /** Codes by document: a byte each for up to 256 shapes, else two. */
  readonly codes: Span
  /** JSON array of the shapes by code. */
  readonly texts: Span
  /** The bits of `NumberedStarts`. */
  readonly starts: Span
}

export function readShapes({ codes, texts, starts }: ShapesEntry, read: ReadSection): TextShapes {
  const known = JSON.parse(read(texts).toString()) as string[]
  return {
    codes: aligned<Uint8Array | Uint16Array>(read(codes), known.length <= 256 ? Uint8Array : Uint16Array),
    texts: known,
    mayStart: startsOf(read(starts)),
  }
}

/** Memory of shapes that were read, about. */
export const shapesBytes = ({ codes, texts }: ShapesEntry): number => codes[2] + 2 * texts[2] + STARTS_BYTES

const startsOf = (bytes: Uint8Array) => {
  const starts = new NumberedStarts(bytes)
  return (prefix: string) => starts.mayStart(prefix)
}

/** Letters, digits, all other characters, and the end of a word. */
const CLASSES = 38
const OTHER = 36
const END = 37
const STARTS_BYTES = CLASSES ** 3 / 8

function classOf(code: number): number {
  if (code >= 0x61 && code <= 0x7a) return code - 0x61
  if (code >= 0x30 && code <= 0x39) return 26 + code - 0x30
  return code === 0 ? END : OTHER
}

const CLASS = Uint8Array.from({ length: 0x10000 }, (_none, code) => classOf(code))

/** A bit for each start of three characters that a word with digits or underscores has. */
export class NumberedStarts {
  readonly #bits: Uint8Array
  #isEmpty = false

  constructor(bits: Uint8Array = new Uint8Array(STARTS_BYTES)) {
    this.#bits = bits
  }

  /** Whether no word came since `clear`. */
  get isEmpty(): boolean {
    return this.#isEmpty
  }

  clear(): void {
    this.#bits.fill(0)
    this.#isEmpty = true
  }

  /** Takes in what `toBytes` gave elsewhere. */
  addAll(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) this.#bits[at]! |= bytes[at]!
  }

  /** The first characters of a word in lower case, as UTF-16; 0 behind its end. */
  add(first: number, second: number, third: number): void {
    const at = (CLASS[first]! * CLASSES + CLASS[second]!) * CLASSES + CLASS[third]!
    this.#bits[at >>> 3]! |= 1 << (at & 7)
    this.#isEmpty = false
  }

  /** False: no such word begins so. */
  mayStart(prefix: string): boolean {
    let from = 0
    let count = 1
    for (let k = 0; k < 3; k++) {
      if (k >= prefix.length) count *= CLASSES
      from = from * CLASSES + (k < prefix.length ? CLASS[prefix.charCodeAt(k)]! : 0)
    }
    for (let at = from; at < from + count; at++) if ((this.#bits[at >>> 3]! & (1 << (at & 7))) !== 0) return true
    return false
  }

  toBytes(): Uint8Array {
    return this.#bits
  }
}
