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
}

const COMPRESSION = 0x07
/** The broker's clock dated the batch. */
const LOG_APPEND_TIME = 0x08
export const TRANSACTIONAL = 0x10
const CONTROL = 0x20
const ABORT_MARKER = 0

const FORMAT = 2
/** Offset and length, which `length` does not count. */
const LENGTH_END = 12
export const HEADER_BYTES = 61

export const isTransactional = ({ attributes }: RecordBatch) => (attributes & TRANSACTIONAL) !== 0
/** Marks the end of a transaction; its record is none of a user. */
export const isControl = ({ attributes }: RecordBatch) => (attributes & CONTROL) !== 0

/** The batches in what a broker sent; the last may have been cut off, and comes again. Throws for other formats than 2. */
export function readBatches(bytes: Buffer): readonly RecordBatch[] {
  const batches: RecordBatch[] = []
  for (let at = 0; at + LENGTH_END <= bytes.length; ) {
    const end = at + LENGTH_END + bytes.readInt32BE(at + 8)
    if (end > bytes.length) break
    const format = bytes[at + 16]
    if (format !== FORMAT || end - at < HEADER_BYTES)
      throw new Error(`a record batch at offset ${bytes.readBigInt64BE(at)} has format ${format}; expected ${FORMAT}`)
    const firstOffset = Number(bytes.readBigInt64BE(at))
    batches.push({
      firstOffset,
      lastOffset: firstOffset + bytes.readInt32BE(at + 23),
      attributes: bytes.readInt16BE(at + 21),
      firstTimestampMs: Number(bytes.readBigInt64BE(at + 27)),
      maxTimestampMs: Number(bytes.readBigInt64BE(at + 35)),
      producerId: bytes.readBigInt64BE(at + 43),
      recordCount: bytes.readInt32BE(at + 57),
      body: bytes.subarray(at + HEADER_BYTES, end),
    })
    at = end
  }
  return batches
}

/** A marker's key is its version and its type. */
export function isAbortMarker(batch: RecordBatch): boolean {
  if (batch.recordCount === 0) return false
  const cursor = new Cursor(plainBody(batch).bytes)
  cursor.skipToKey()
  const bytes = cursor.bytes()
  return bytes !== undefined && bytes.length >= 4 && bytes.readInt16BE(2) === ABORT_MARKER
}

/**
 * Appends the batch's records from an offset on, as a broker sends batches whole. Returns the memory that their values are views of: the
 * batch's own where it is not compressed.
 */
export function readRecords(
  batch: RecordBatch,
  { topic, partition }: TopicPartition,
  fromOffset: number,
  into: ConsumedRecord[],
): Uint8Array {
  const { firstOffset, firstTimestampMs, maxTimestampMs, attributes, recordCount } = batch
  const hasBrokerTime = (attributes & LOG_APPEND_TIME) !== 0
  const { bytes, memory } = plainBody(batch)
  const cursor = new Cursor(bytes)
  const keys = new RepeatedText()
  const names = new RepeatedText()
  for (let i = 0; i < recordCount; i++) {
    const length = cursor.varint()
    const end = cursor.at + length
    cursor.at++ // attributes: none are in use
    const sentMs = firstTimestampMs + cursor.varint()
    const offset = firstOffset + cursor.varint()
    if (offset >= fromOffset) {
      const key = keys.next(cursor)
      const value = cursor.bytes() ?? NO_BYTES
      const timestampMs = hasBrokerTime ? maxTimestampMs : sentMs
      into.push({ topic, partition, offset, timestampMs, key, value, headers: readHeaders(cursor, names) })
    }
    cursor.at = end
  }
  return memory
}

const NO_BYTES = Buffer.alloc(0)
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({})

function readHeaders(cursor: Cursor, names: RepeatedText): Readonly<Record<string, string>> {
  const count = cursor.varint()
  if (count === 0) return NO_HEADERS
  const headers: Record<string, string> = {}
  for (let i = 0; i < count; i++) {
    const name = names.next(cursor)
    headers[name] = cursor.text()
  }
  return headers
}

function plainBody({ attributes, body, firstOffset }: RecordBatch): PlainRecords {
  const compression = attributes & COMPRESSION
  if (compression === 0) return { bytes: body, memory: body }
  const plain = unpackRecords(body, compression)
  if (plain === undefined) throw new Error(`the record batch at offset ${firstOffset} has the unknown compression ${compression}`)
  return plain
}

/** Reads Kafka's variable-length fields, one after the other. */
class Cursor {
  readonly #bytes: Buffer
  at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
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

const cutOff = () => new RangeError('a record batch ends within a record')
