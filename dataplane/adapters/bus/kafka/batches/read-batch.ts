/** Record batches of format 2 as they come from a broker, read without the library, which takes twice as long. */
import type { ConsumedRecord, TopicPartition } from '../../../../ports/bus.ts'
import { type PlainRecords, unpackRecords } from './compression.ts'

/** A batch's header; its records are read on demand. */
export interface RecordBatch {
  readonly firstOffset: number
  /** Offset of the last record that was written; some before it may be gone by compaction. */
  readonly lastOffset: number
  readonly attributes: number
  readonly firstTimestampMs: number
  readonly maxTimestampMs: number
  readonly producerId: bigint
  readonly recordCount: number
  /** The records, compressed as `attributes` says. */
  readonly body: Buffer
  /** Why none of its records can be read, where the header says so. */
  readonly problem?: string
}

const COMPRESSION = 0x07
const LOG_APPEND_TIME = 0x08
export const TRANSACTIONAL = 0x10
const CONTROL = 0x20
const ABORT_MARKER = 0

const FORMAT = 2
/**
 * Records and headers of records that are read from one batch: each becomes an object or a text, and a record of any size a dead letter at worst. A
 * header takes two bytes at least, so that no batch has more that is sent uncompressed to a broker with its default `message.max.bytes` (1,048,588).
 */
export const MAX_BATCH_PARTS = 524_288
/** As many of them become objects and texts at a time; a record comes with all its headers. */
export const MAX_PORTION_PARTS = 10_000
/** Offset and length, which `length` does not count. */
const LENGTH_END = 12
export const HEADER_BYTES = 61

export const isTransactional = ({ attributes }: RecordBatch) => (attributes & TRANSACTIONAL) !== 0
/** Marks the end of a transaction; its record is none of a user. */
export const isControl = ({ attributes }: RecordBatch) => (attributes & CONTROL) !== 0

/** The batches in what a broker sent; the last may have been cut off, and comes again. */
export function readBatches(bytes: Buffer): readonly RecordBatch[] {
  const batches: RecordBatch[] = []
  for (let at = 0; at + LENGTH_END <= bytes.length; ) {
    const end = at + LENGTH_END + bytes.readInt32BE(at + 8)
    if (end <= at) throw new RangeError(`the record batch at offset ${bytes.readBigInt64BE(at)} has no length`)
    if (end > bytes.length) break
    batches.push(readBatch(bytes.subarray(at, end)))
    at = end
  }
  return batches
}

function readBatch(bytes: Buffer): RecordBatch {
  const firstOffset = Number(bytes.readBigInt64BE(0))
  const format = bytes[16]
  if (format !== FORMAT || bytes.length < HEADER_BYTES) {
    const problem = `its format is ${format}; expected ${FORMAT}`
    const unknown = { attributes: 0, firstTimestampMs: 0, maxTimestampMs: 0, producerId: -1n, recordCount: 1 }
    // Offset of the last record, in the formats before.
    return { firstOffset, lastOffset: firstOffset, ...unknown, body: bytes.subarray(LENGTH_END), problem }
  }
  return {
    firstOffset,
    lastOffset: firstOffset + Math.max(0, bytes.readInt32BE(23)),
    attributes: bytes.readInt16BE(21),
    firstTimestampMs: Number(bytes.readBigInt64BE(27)),
    maxTimestampMs: Number(bytes.readBigInt64BE(35)),
    producerId: bytes.readBigInt64BE(43),
    recordCount: bytes.readInt32BE(57),
    body: bytes.subarray(HEADER_BYTES),
  }
}

/** A marker's key is its version and its type. */
export function isAbortMarker(batch: RecordBatch): boolean {
  if (batch.recordCount === 0) return false
  const cursor = new Cursor(plainBody(batch).bytes)
  cursor.skipToKey()
  const bytes = cursor.bytes()
  return bytes !== undefined && bytes.length >= 4 && bytes.readInt16BE(2) === ABORT_MARKER
}

export interface ReadPortion {
  /** The values of the records are views of this memory: the batch's own where it is not compressed. */
  readonly memory: Uint8Array
  /** Bytes that the portion takes in what came out of the batch. */
  readonly plainBytes: number
  /** Records and headers that were read: each is an object or a text, small or large. */
  readonly parts: number
  /** Bytes behind the portion that came out of the batch, too; undefined: it was the last. */
  readonly restBytes: number | undefined
}

/**
 * Appends the batch's records from an offset on, as a broker sends batches whole. A record that cannot be read is the last: it stands for all behind it,
 * and says why.
 */
export function readRecords(batch: RecordBatch, of: TopicPartition, fromOffset: number, into: ConsumedRecord[]): ReadPortion {
  return new BatchReader(batch, of, fromOffset).read(into, Number.POSITIVE_INFINITY)
}

/** Reads a batch as `readRecords` does, a portion at a time. */
export class BatchReader {
  readonly #batch: RecordBatch
  readonly #of: TopicPartition
  readonly #fromOffset: number
  readonly #headers: HeaderReader
  readonly #keys = new RepeatedText()
  /** Undefined until it was unpacked, and while it cannot be. */
  #plain: PlainRecords | undefined
  #cursor = new Cursor(NO_BYTES)
  #recordsRead = 0
  /** Offset of the record before. */
  #before: number

  constructor(batch: RecordBatch, of: TopicPartition, fromOffset: number) {
    this.#batch = batch
    this.#of = of
    this.#fromOffset = fromOffset
    this.#headers = new HeaderReader(MAX_BATCH_PARTS - batch.recordCount)
    this.#before = batch.firstOffset - 1
  }

  /** Appends records until they, with their headers, are `maxParts`. */
  read(into: ConsumedRecord[], maxParts = MAX_PORTION_PARTS): ReadPortion {
    const countBefore = into.length
    const headersBefore = this.#headers.read
    const start = this.#cursor.at
    const parts = () => into.length - countBefore + this.#headers.read - headersBefore
    const { recordCount, body } = this.#batch
    let isWhole = true
    try {
      this.#unpack()
      while (this.#recordsRead < recordCount && parts() < maxParts) this.#readRecord(into)
    } catch (error) {
      into.push(unreadable(this.#batch, this.#of, (error as Error).message))
      isWhole = false
    }
    const size = this.#plain?.bytes.length ?? 0
    const hasRest = isWhole && this.#recordsRead < recordCount
    const end = hasRest ? this.#cursor.at : size
    const restBytes = hasRest ? size - end : undefined
    return { memory: this.#plain?.memory ?? body, plainBytes: end - start, parts: parts(), restBytes }
  }

  #unpack(): void {
    if (this.#plain !== undefined) return
    const { problem, recordCount } = this.#batch
    if (problem !== undefined) throw new RangeError(problem)
    if (recordCount < 0 || recordCount > MAX_BATCH_PARTS)
      throw new RangeError(`it has ${recordCount} records; at most ${MAX_BATCH_PARTS} are read`)
    this.#plain = plainBody(this.#batch)
    this.#cursor = new Cursor(this.#plain.bytes)
  }

  #readRecord(into: ConsumedRecord[]): void {
    const { firstOffset, lastOffset, firstTimestampMs, maxTimestampMs, attributes } = this.#batch
    const { topic, partition } = this.#of
    const cursor = this.#cursor
    const number = ++this.#recordsRead
    const length = cursor.varint()
    const end = cursor.at + length
    cursor.at++ // attributes: none are in use
    const sentMs = firstTimestampMs + cursor.varint()
    const offset = firstOffset + cursor.varint()
    if (offset <= this.#before || offset > lastOffset)
      throw new RangeError(`record ${number} has the offset ${offset}; expected ${this.#before + 1} to ${lastOffset}`)
    this.#before = offset
    if (offset >= this.#fromOffset) {
      const key = this.#keys.next(cursor)
      const value = cursor.bytes() ?? NO_BYTES
      // The broker's clock dated the batch.
      const timestampMs = (attributes & LOG_APPEND_TIME) !== 0 ? maxTimestampMs : sentMs
      into.push({ topic, partition, offset, timestampMs, key, value, headers: this.#headers.next(cursor) })
    }
    if (end < cursor.at || end > cursor.length) throw new RangeError(`record ${number} has the length ${length}`)
    cursor.at = end
  }
}

function unreadable(batch: RecordBatch, { topic, partition }: TopicPartition, problem: string): ConsumedRecord {
  const { firstOffset, lastOffset, maxTimestampMs, body } = batch
  const of = { topic, partition, offset: lastOffset, timestampMs: Math.max(0, maxTimestampMs), key: '', value: body, headers: NO_HEADERS }
  return { ...of, unreadable: `Kafka record batch at offset ${firstOffset}: ${problem}` }
}

const NO_BYTES = Buffer.alloc(0)
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({})

class HeaderReader {
  readonly #names = new RepeatedText()
  readonly #limit: number
  read = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  next(cursor: Cursor): Readonly<Record<string, string>> {
    const count = cursor.varint()
    if (count === 0) return NO_HEADERS
    if (count < 0 || this.read + count > this.#limit) throw new RangeError(`it has more than ${MAX_BATCH_PARTS} records and headers`)
    const headers: Record<string, string> = {}
    for (let i = 0; i < count; i++) {
      const name = this.#names.next(cursor)
      headers[name] = cursor.text()
      this.read++
    }
    return headers
  }
}

function plainBody({ attributes, body }: RecordBatch): PlainRecords {
  const compression = attributes & COMPRESSION
  return compression === 0 ? { bytes: body, memory: body } : unpackRecords(body, compression)
}

/** The scale of the tenth byte: a number of 64 bits has no more. */
const MAX_VARINT_SCALE = 2 ** 70

/** Reads Kafka's variable-length fields, one after the other. */
class Cursor {
  readonly #bytes: Buffer
  at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get length(): number {
    return this.#bytes.length
  }

  skipToKey(): void {
    this.varint() // length
    this.at++ // attributes
    this.varint() // time
    this.varint() // offset
  }

  /** Zigzag; exact up to 2^52. */
  varint(): number {
    const bytes = this.#bytes
    let byte = bytes[this.at++]!
    if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1)
    let zigzag = byte & 0x7f
    let scale = 0x80
    do {
      if (this.at >= bytes.length) throw cutOff()
      byte = bytes[this.at++]!
      zigzag += (byte & 0x7f) * scale
      scale *= 0x80
      if (scale > MAX_VARINT_SCALE) throw new RangeError('a number of it is longer than ten bytes')
    } while (byte >= 0x80)
    return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
  }

  /** Undefined for null. */
  bytes(): Buffer | undefined {
    const length = this.varint()
    return length < 0 ? undefined : this.#bytes.subarray(this.#skip(length), this.at)
  }

  /** Empty for null. */
  text(): string {
    const length = this.varint()
    return length <= 0 ? '' : this.#bytes.toString('utf8', this.#skip(length), this.at)
  }

  /** Goes over bytes of this length and whether they are those from `start` on. */
  passEqual(length: number, start: number): boolean {
    const bytes = this.#bytes
    const { at } = this
    if (at + length > bytes.length) return false
    for (let i = 0; i < length; i++) if (bytes[at + i] !== bytes[start + i]) return false
    this.at = at + length
    return true
  }

  /** Where the skipped part starts. */
  #skip(length: number): number {
    const start = this.at
    this.at = start + length
    if (this.at > this.#bytes.length) throw cutOff()
    return start
  }
}

/** Texts one after the other, of which most are as the one before: one string for those. */
class RepeatedText {
  #text = ''
  #start = 0
  #length = 0

  /** Empty for null. */
  next(cursor: Cursor): string {
    const before = cursor.at
    const length = cursor.varint()
    if (length <= 0) return ''
    if (length === this.#length && cursor.passEqual(length, this.#start)) return this.#text
    this.#start = cursor.at
    this.#length = length
    cursor.at = before
    this.#text = cursor.text()
    return this.#text
  }
}

const cutOff = () => new RangeError('it ends within a record')
