/** Reads the log of the index over a tail that another process writes. */
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import { decodeRecord, decodeTerms, type IndexRecord, RECORD_HEADER_BYTES, recordLengths } from '../format/index-record.ts'
import type { SegmentFile } from '../format/segment-file.ts'
import type { UnpackedEvents } from '../format/segment-index/packed-values.ts'
import { hashTerm } from '../format/term-hash.ts'
import type { FieldSlot } from '../ingest/field-slots.ts'
import type { SegmentContext } from '../segment-context.ts'
import type { Tail } from './tail.ts'

/** The terms of a record, which stay in the file until they are asked for. */
export interface LoggedTerms {
  readonly at: number
  readonly bytes: number
  /** Words of 32 bits, once they are unpacked. */
  readonly words: number
}

/** A record that has not been taken over. */
interface Next {
  readonly record: IndexRecord
  readonly terms: LoggedTerms
}

/** Reads the records in order. Fields have other slots in this process: they are known by their paths. */
export class IndexLogReader {
  readonly #file: SegmentFile
  readonly #context: SegmentContext
  #position = 0
  #next: Next | undefined
  /** By slot of the writer. */
  readonly #paths: string[] = []
  readonly #slots: (FieldSlot | undefined)[] = []
  /** Fields of the writer that have no column, or a part of one. The mapping may not have all of them: some came with refused documents. */
  #partial: readonly number[] = []
  #high: readonly number[] = []

  constructor(file: SegmentFile, context: SegmentContext) {
    this.#file = file
    this.#context = context
  }

  /** The record of the frame at `at`; undefined where there is none before `end`, offset in the log. */
  recordAt(at: number, end: number): Next | undefined {
    if (this.#next === undefined && this.#position < end) {
      const position = this.#position
      const { length, termsAt, termWords } = recordLengths(this.#file.read(RECORD_HEADER_BYTES, position))
      const record = decodeRecord(this.#file.read(termsAt, position))
      this.#next = { record, terms: { at: position + termsAt, bytes: length - termsAt, words: termWords } }
      this.#position += length
    }
    return this.#next?.record.head.at === at ? this.#next : undefined
  }

  /** Terms in an array that is lent. */
  termsOf({ at, bytes, words }: LoggedTerms): Int32Array<ArrayBuffer> {
    const packed = this.#file.read(bytes, at)
    const terms = decodeTerms(packed, words)
    releaseBytes(packed)
    return terms
  }

  /** Takes over what the last record says of the columns of the tail. The events come back with slots of this process. */
  take({ head, events, pairs }: IndexRecord, tail: Tail): UnpackedEvents {
    this.#next = undefined
    this.#paths.push(...head.paths)
    for (const [slot, values] of head.values) this.#learn(this.#slotOf(slot), values, tail)
    this.#partial = this.#takeFields([...this.#partial, ...head.partial], slot => {
      tail.index.keyword(slot).isPartial = true
    })
    this.#high = this.#takeFields([...this.#high, ...head.high], slot => tail.high.add(slot))
    tail.index.pairs.addChanges(pairs)
    // Nothing else looks at the memory of the record.
    releaseBytes(new Uint8Array(pairs.buffer))
    const { codes, codeEnd, numberSlots, numberEnd } = events
    for (let k = 0; k < codeEnd; k += 2) codes[k] = this.#slotOf(codes[k]!).number
    for (let k = 0; k < numberEnd; k++) numberSlots[k] = this.#slotOf(numberSlots[k]!).number
    return events
  }

  #learn(slot: FieldSlot, values: readonly string[], { index }: Tail): void {
    const column = index.keyword(slot.number)
    const key = new Int32Array(2)
    for (const value of values) {
      hashTerm(slot, value, key, 0)
      column.learn(key[0]!, key[1]!, value)
    }
  }

  /** Gives back the slots that the mapping has no field for yet. */
  #takeFields(slots: readonly number[], take: (slot: number) => void): readonly number[] {
    return slots.filter(slot => {
      const own = this.#slotIfKnown(slot)
      if (own !== undefined) take(own.number)
      return own === undefined
    })
  }

  /** The slot of a field that a stored document has. */
  #slotOf(slot: number): FieldSlot {
    const own = this.#slots[slot] ?? this.#slotIfKnown(slot)
    if (own === undefined) throw new Error(`the log names a field that is not mapped: ${this.#paths[slot]}`)
    this.#slots[slot] = own
    return own
  }

  #slotIfKnown(slot: number): FieldSlot | undefined {
    const path = this.#paths[slot]!
    this.#context.slots.reserve(path)
    return this.#context.slotOf(path)
  }
}
