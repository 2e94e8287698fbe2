/**
 * A commit as the index over the tail takes it, in memory's own byte order: a header, a JSON head, pairs of words, then the events packed: codes,
 * numbers and ends, behind them the terms. Terms are most of it: they are read when a query asks for words. Written for another process of this
 * machine, never read after a start.
 */
import type { IndexEvents } from '../ingest/document-events.ts'
import type { BlockRef } from './block/block.ts'
import { WordWriter } from './bytes/word-writer.ts'
import type { FrameHead } from './frame.ts'
import { packTerms, unpackTerms } from './segment-index/packed-terms.ts'
import { packValues, type UnpackedEvents, unpackValues } from './segment-index/packed-values.ts'

const WORD_BYTES = 4
/** Length of the record, offset of the terms, length of the JSON; counts of numbers, documents, words of codes, of pairs, of terms; words of packed values. */
const HEADER_WORDS = 10
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
  readonly events: UnpackedEvents
  /** `[word, bits]` of the pairs of words. */
  readonly pairs: Int32Array
}

const values = new WordWriter()
const terms = new WordWriter()

export function encodeRecord(head: RecordHead, events: IndexEvents, pairs: readonly number[]): Buffer {
  const text = Buffer.from(JSON.stringify(head))
  values.clear()
  packValues(events, values)
  terms.clear()
  packTerms(events.terms, events.termEnd, terms)
  const pairsAt = RECORD_HEADER_BYTES + padded(text.length)
  const valuesAt = pairsAt + WORD_BYTES * pairs.length
  const termsAt = valuesAt + 2 * values.length
  const bytes = Buffer.allocUnsafeSlow(padded(termsAt + 2 * terms.length))
  const lengths = [bytes.length, termsAt, text.length]
  const counts = [events.numberEnd, events.count, events.codeEnd, pairs.length, events.termEnd, values.length]
  new Int32Array(bytes.buffer, 0, HEADER_WORDS).set([...lengths, ...counts])
  bytes.set(text, RECORD_HEADER_BYTES)
  new Int32Array(bytes.buffer, pairsAt, pairs.length).set(pairs)
  new Uint16Array(bytes.buffer, valuesAt, values.length).set(values.written())
  new Uint16Array(bytes.buffer, termsAt, terms.length).set(terms.written())
  return bytes
}

/** Where a record's parts end, by its header. */
export function recordLengths(header: Buffer): { readonly length: number; readonly termsAt: number; readonly termWords: number } {
  const words = new Int32Array(header.buffer, header.byteOffset, HEADER_WORDS)
  return { length: words[0]!, termsAt: words[1]!, termWords: words[7]! }
}

/** A record as far as its terms, at the beginning of its memory; the pairs that come back are a view of it. */
export function decodeRecord(bytes: Buffer): IndexRecord {
  const header = new Int32Array(bytes.buffer, 2 * WORD_BYTES, 7) as unknown as HeaderWords
  const [textBytes, numberEnd, count, codeEnd, pairWords, _termWords, valueWords] = header
  const pairsAt = RECORD_HEADER_BYTES + padded(textBytes)
  const head = JSON.parse(bytes.toString('utf8', RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + textBytes)) as RecordHead
  const packed = new Uint16Array(bytes.buffer, pairsAt + WORD_BYTES * pairWords, valueWords)
  return { head, events: unpackValues(packed, count, codeEnd, numberEnd), pairs: new Int32Array(bytes.buffer, pairsAt, pairWords) }
}

/** Terms in the bytes that a record ends with, which begin at an even place of their memory. */
export const decodeTerms = (bytes: Buffer, words: number): Int32Array<ArrayBuffer> =>
  unpackTerms(new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 1), words)

type HeaderWords = readonly [number, number, number, number, number, number, number]

const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8
