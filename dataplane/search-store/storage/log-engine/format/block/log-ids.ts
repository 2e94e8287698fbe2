/**
 * Ids of log records, which follow from trace, span and time of the same document (Spec: Pipeline rules 2). Where the hash of these is the id, the block
 * does not keep the id; any other stands in it as any other UUID.
 */
import { isUuid5, namespaceBytes, writeUuid5 } from '../../../../../hash/uuid5.ts'
import { COLON, QUOTE } from '../../../../../json/bytes.ts'
import {
  type BlockParts,
  type HexReader,
  HexValues,
  KINDS,
  MAX_DOCS,
  putUuid,
  type Streams,
  type TimeValues,
  UUID_BYTES,
  type ValueReader,
} from './cut-values.ts'

/** The namespace of log ids, see `LOG_NAMESPACE` of the pipeline: another one would leave all ids in their blocks. */
export const LOG_ID_NAMESPACE = '1d4fe476-9f3c-5866-8387-82041192153a'

/** Members that the id follows from, beside the time. */
const TRACE_BYTES = 16
const SPAN_BYTES = 8

const DIGITS_AT = 16
/** Namespace, trace, span and nanoseconds since 1970 with colons between; the quote behind the last of them is in none. */
const name = new Uint8Array(DIGITS_AT + 2 * TRACE_BYTES + 1 + 2 * SPAN_BYTES + 1 + 20 + 1)
name.set(namespaceBytes(LOG_ID_NAMESPACE))
const nameView = new DataView(name.buffer)

/** The cut of a member that the id follows from. */
export interface Ingredient {
  readonly cut: number
  readonly values: HexValues
}

/** Blocks in a row without an id that follows, after which the others are not tried any more. */
const MAX_IDLE_BLOCKS = 2

export class LogIdValues extends HexValues {
  override readonly kind = KINDS.logId
  readonly #trace: Ingredient | undefined
  readonly #span: Ingredient | undefined
  readonly #time: TimeValues
  /** Documents in the order of their values. */
  readonly #docs = new Uint8Array(MAX_DOCS)
  #idleBlocks = 0

  constructor(trace: Ingredient | undefined, span: Ingredient | undefined, time: TimeValues) {
    super(UUID_BYTES, true)
    this.#trace = trace
    this.#span = span
    this.#time = time
  }

  override take(doc: number, source: Uint8Array, start: number): number {
    this.#docs[this.count] = doc
    return super.take(doc, source, start)
  }

  override write({ texts, plain }: Streams): void {
    texts.byte(this.#trace === undefined ? 0 : this.#trace.cut + 1)
    texts.byte(this.#span === undefined ? 0 : this.#span.cut + 1)
    const { count } = this
    const kept: number[] = []
    const isTried = this.#idleBlocks < MAX_IDLE_BLOCKS
    for (let rank = 0; rank < count; rank++) if (!isTried || !this.#follows(rank)) kept.push(rank)
    if (isTried) this.#idleBlocks = kept.length === count ? this.#idleBlocks + 1 : 0
    texts.byte(kept.length)
    if (kept.length < count) for (const rank of kept) texts.byte(rank)
    for (const rank of kept) plain.add(this.values, UUID_BYTES * rank, UUID_BYTES * (rank + 1))
  }

  #follows(rank: number): boolean {
    const doc = this.#docs[rank]!
    const { times, has } = this.#time
    if (has[doc] === 0) return false
    const traceEnd = this.#trace === undefined ? DIGITS_AT : this.#trace.values.putDigits(doc, name, DIGITS_AT)
    name[traceEnd] = COLON
    const spanEnd = this.#span === undefined ? traceEnd + 1 : this.#span.values.putDigits(doc, name, traceEnd + 1)
    const end = times.putEpoch(doc, name, spanEnd)
    name[spanEnd] = COLON
    // No time of so many digits: nothing was written.
    if (end === spanEnd) return false
    return isUuid5(nameView, end - 1, this.values, UUID_BYTES * rank)
  }
}

/** The parts of a block that ids follow from are read later than the ids: they are looked at when a document is. */
export class LogIdReader implements ValueReader {
  readonly #parts: BlockParts
  /** −1: there is none. */
  readonly #trace: number
  readonly #span: number
  /** By value: the how manyeth of those that are kept, counted from 1; 0: it follows. */
  readonly #kept: Uint8Array
  readonly #bytes: Uint8Array

  constructor(count: number, parts: BlockParts) {
    const { texts, plain } = parts
    this.#parts = parts
    this.#trace = texts.byte() - 1
    this.#span = texts.byte() - 1
    const kept = texts.byte()
    this.#kept = new Uint8Array(count)
    for (let k = 0; k < kept; k++) this.#kept[kept < count ? texts.byte() : k] = k + 1
    this.#bytes = plain.take(UUID_BYTES * kept)
  }

  put(doc: number, rank: number, out: Uint8Array, at: number): number {
    const kept = this.#kept[rank]!
    if (kept > 0) return putUuid(this.#bytes, UUID_BYTES * (kept - 1), out, at)
    const traceEnd = this.#putDigits(this.#trace, doc, DIGITS_AT)
    name[traceEnd] = COLON
    const spanEnd = this.#putDigits(this.#span, doc, traceEnd + 1)
    const end = this.#parts.times!.putEpoch(doc, name, spanEnd)
    name[spanEnd] = COLON
    out[at] = QUOTE
    writeUuid5(name.subarray(0, end - 1), out, at + 1)
    out[at + 37] = QUOTE
    return at + 38
  }

  #putDigits(cut: number, doc: number, at: number): number {
    const { masks, forms, ranks, values } = this.#parts
    if (cut < 0 || (masks[forms === undefined ? 0 : forms[doc]!]! & (1 << cut)) === 0) return at
    return (values[cut] as HexReader).putDigits(ranks[cut]![doc]!, name, at)
  }
}
