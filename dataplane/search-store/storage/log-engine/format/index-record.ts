/**
 * A commit as the index over the tail takes it, in memory's own byte order: a header, a JSON head, then numbers, ends, slots of numbers, codes,
 * pairs and terms, each as the events hold them. Terms are most of it and come last: they are read when a query asks for words. Written for
 * another process of this machine, never read after a start.
 */
import type { IndexEvents } from '../ingest/document-events.ts'
import type { BlockRef } from './block.ts'
import type { FrameHead } from './frame.ts'

const WORD_BYTES = 4
const NUMBER_BYTES = 8
/** Length of the record, offset of the terms, length of the JSON; counts of numbers, documents, words of codes, of pairs, of terms. */
const HEADER_WORDS = 8
export const RECORD_HEADER_BYTES = HEADER_WORDS * WORD_BYTES

/** The part of a record beside the events of a commit. Fields are named by their slot in the process that writes. */
export interface RecordHead {
  /** The commit's frame in the segment's file. */
  readonly at: number
  readonly end: number
  readonly frame: FrameHead
  /** Documents are counted from the commit's first. */
  readonly blocks: readonly BlockRef[]
  /** Paths of the slots that are new since the record before, in order. */
  readonly paths: readonly string[]
  /** New values of keyword columns, in the order of their codes. */
  readonly values: readonly (readonly [slot: number, values: readonly string[]])[]
  /** Keyword columns that hold some of their values only, since this commit. */
  readonly partial: readonly number[]
  /** Keyword fields without a column, since this commit. */
  readonly high: readonly number[]
}

/** A record without its terms. */
export interface IndexRecord {
  readonly head: RecordHead
  /** Slots and codes are those of the process that wrote them. Of the terms there are the ends. */
  readonly events: IndexEvents
  /** `[word, bits]` of the pairs of words. */
  readonly pairs: Int32Array
}

export function encodeRecord(head: RecordHead, events: IndexEvents, pairs: readonly number[]): Buffer {
  const text = Buffer.from(JSON.stringify(head))
  const start = RECORD_HEADER_BYTES + padded(text.length)
  const words = 3 * events.count + events.numberEnd + events.termEnd + events.codeEnd + pairs.length
  const end = start + NUMBER_BYTES * events.numberEnd + WORD_BYTES * words
  const bytes = Buffer.allocUnsafeSlow(padded(end))
  const lengths = [bytes.length, end - WORD_BYTES * events.termEnd, text.length]
  const counts = [events.numberEnd, events.count, events.codeEnd, pairs.length, events.termEnd]
  new Int32Array(bytes.buffer, 0, HEADER_WORDS).set([...lengths, ...counts])
  bytes.set(text, RECORD_HEADER_BYTES)
  new Float64Array(bytes.buffer, start, events.numberEnd).set(events.numbers.subarray(0, events.numberEnd))
  const ints = new Int32Array(bytes.buffer, start + NUMBER_BYTES * events.numberEnd, words)
  let at = 0
  const write = (part: ArrayLike<number>) => {
    ints.set(part, at)
    at += part.length
  }
  write(events.ends.subarray(0, 3 * events.count))
  write(events.numberSlots.subarray(0, events.numberEnd))
  write(events.codes.subarray(0, events.codeEnd))
  write(pairs)
  write(events.terms.subarray(0, events.termEnd))
  return bytes
}

/** Where a record's parts end, by its header. */
export function recordLengths(header: Buffer): { readonly length: number; readonly termsAt: number; readonly termWords: number } {
  const words = new Int32Array(header.buffer, header.byteOffset, HEADER_WORDS)
  return { length: words[0]!, termsAt: words[1]!, termWords: words[HEADER_WORDS - 1]! }
}

/** A record as far as its terms, at the beginning of its memory; what comes back are views of it. */
export function decodeRecord(bytes: Buffer): IndexRecord {
  const [textBytes, numberEnd, count, codeEnd, pairWords] = new Int32Array(bytes.buffer, 2 * WORD_BYTES, 5) as unknown as HeaderWords
  const start = RECORD_HEADER_BYTES + padded(textBytes)
  let at = start + NUMBER_BYTES * numberEnd
  const read = (words: number) => {
    const part = new Int32Array(bytes.buffer, at, words)
    at += WORD_BYTES * words
    return part
  }
  const head = JSON.parse(bytes.toString('utf8', RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + textBytes)) as RecordHead
  const numbers = new Float64Array(bytes.buffer, start, numberEnd)
  const [ends, numberSlots, codes, pairs] = [read(3 * count), read(numberEnd), read(codeEnd), read(pairWords)]
  return { head, events: { count, ends, terms: NO_TERMS, termEnd: 0, codes, codeEnd, numbers, numberSlots, numberEnd }, pairs }
}

/** Terms in the bytes that a record ends with. */
export const decodeTerms = (bytes: Buffer, words: number): Int32Array => new Int32Array(bytes.buffer, bytes.byteOffset, words)

const NO_TERMS = new Int32Array(0)

type HeaderWords = readonly [number, number, number, number, number]

const padded = (bytes: number): number => Math.ceil(bytes / NUMBER_BYTES) * NUMBER_BYTES
