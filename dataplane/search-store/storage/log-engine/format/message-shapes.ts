/**
 * Which messages of a segment have the same words in the same order, but for words with digits, of which only the place counts. A segment of logs has
 * a few hundred such shapes: a phrase or a prefix is looked for in those, not in each text.
 */
import { grown } from '../../../grown.ts'
import type { TextShapes } from '../../index-storage.ts'
import type { ReadSection, Span, WriteSection } from './column-codec.ts'
import { LANE_HI, LANE_LO } from './term-hash.ts'
import { bringsPairs } from './word-pairs.ts'

/** Messages with shapes beyond these have none. */
const MAX_SHAPES = 2_048
/** Characters of all shapes of a segment. */
const MAX_LENGTH = 256 * 1024
/** Memory of a shape beside its text, about. */
const SHAPE_BYTES = 100

/** Stands in a shape for each word with digits or underscores. */
export const NUMBERED = '0'

/** What a numbered word adds to the hash of a shape, in place of its own. */
const NUMBERED_LO = 0x3c6ef372
const NUMBERED_HI = 0x1f83d9ab

/** Takes words in as they are met. The hash of the shape so far. */
export class ShapeHash {
  lo = 0
  hi = 0
  readonly starts: NumberedStarts

  constructor(starts: NumberedStarts) {
    this.starts = starts
  }

  clear(): void {
    this.lo = 0
    this.hi = 0
  }

  /** A word of letters, by its hash. */
  add(lo: number, hi: number): void {
    this.lo = Math.imul(this.lo ^ lo, LANE_LO)
    this.hi = Math.imul(((this.hi << 5) | (this.hi >>> 27)) ^ hi, LANE_HI)
  }

  /** A word with digits or underscores, by its first three characters; 0 stands behind its end. */
  addNumbered(first: number, second: number, third: number): void {
    this.add(NUMBERED_LO, NUMBERED_HI)
    this.starts.add(first, second, third)
  }
}

/** The shapes of the messages of a tail. */
export class MessageShapes {
  readonly starts = new NumberedStarts()
  readonly hash = new ShapeHash(this.starts)
  /** By code; 0: no shape. */
  readonly #texts: string[] = ['']
  readonly #codes = new Map<number, number>()
  #byDoc = new Uint16Array(1_024)
  #length = 0

  get sizeBytes(): number {
    return this.#byDoc.byteLength + this.#length + SHAPE_BYTES * this.#texts.length
  }

  /** The code of the shape of the words that `hash` was given; −1: it is new, and to be added. */
  find(): number {
    return this.#codes.get(this.#key()) ?? (this.#isFull ? 0 : -1)
  }

  /** Takes the words of the text that `hash` was given. */
  add(words: readonly string[]): number {
    const text = words.map(word => (bringsPairs(word) ? word : NUMBERED)).join(' ')
    if (this.#length + text.length > MAX_LENGTH) return 0
    this.#length += text.length
    const code = this.#texts.push(text) - 1
    this.#codes.set(this.#key(), code)
    return code
  }

  get #isFull(): boolean {
    return this.#texts.length > MAX_SHAPES
  }

  /** 53 bits of the hash. */
  #key(): number {
    return this.hash.hi * 2 ** 21 + (this.hash.lo >>> 11)
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
  const bytes = Uint8Array.from(read(codes))
  return {
    codes: known.length <= 256 ? bytes : new Uint16Array(bytes.buffer),
    texts: known,
    mayStart: startsOf(read(starts)),
  }
}

/** Memory of shapes that were read, about. */
export const shapesBytes = ({ codes, texts }: ShapesEntry): number => codes[2] + 2 * texts[2] + STARTS_BYTES

const startsOf = (bytes: Uint8Array) => {
  const starts = new NumberedStarts(Uint8Array.from(bytes))
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

  constructor(bits = new Uint8Array(STARTS_BYTES)) {
    this.#bits = bits
  }

  /** The first characters of a word in lower case, as UTF-16; 0 behind its end. */
  add(first: number, second: number, third: number): void {
    const at = (CLASS[first]! * CLASSES + CLASS[second]!) * CLASSES + CLASS[third]!
    this.#bits[at >>> 3]! |= 1 << (at & 7)
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
