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
/** The broker's clock dated the batch. */
const LOG_APPEND_TIME = 0x08
export const TRANSACTIONAL = 0x10
const CONTROL = 0x20
const ABORT_MARKER = 0

const FORMAT = 2
/** Records and headers of records that are read from one batch: each becomes an object or a text, whatever its size. */
export const MAX_BATCH_PARTS = 500_000
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

export interface ReadMemory {
  /** The values of the records are views of this memory: the batch's own where it is not compressed. */
  readonly memory: Uint8Array
  /** Bytes that came out of the batch. */
  readonly plainBytes: number
  /** Records and headers that were read: each is an object or a text, whatever its size. */
  readonly parts: number
}

/**
 * Appends the batch's records from an offset on, as a broker sends batches whole. A record that cannot be read is the last: it stands for all behind it,
 * and says why; the memory is the batch's own then.
 */
export function readRecords(batch: RecordBatch, of: TopicPartition, fromOffset: number, into: ConsumedRecord[]): ReadMemory {
  const before = into.length
  const headers = new HeaderReader(MAX_BATCH_PARTS - batch.recordCount)
  let plainBytes = 0
  let memory: Uint8Array = batch.body
  try {
    if (batch.problem !== undefined) throw new RangeError(batch.problem)
    const plain = plainBody(batch)
    plainBytes = plain.bytes.length
    readPlainRecords(batch, plain.bytes, of, fromOffset, headers, into)
    memory = plain.memory
  } catch (error) {
    into.push(unreadable(batch, of, (error as Error).message))
  }
  return { memory, plainBytes, parts: into.length - before + headers.read }
}

/** Throws where a record cannot be read: those before it are appended. */
function readPlainRecords(
  { firstOffset, lastOffset, firstTimestampMs, maxTimestampMs, attributes, recordCount }: RecordBatch,
  bytes: Buffer,
  { topic, partition }: TopicPartition,
  fromOffset: number,
  headers: HeaderReader,
  into: ConsumedRecord[],
): void {
  if (recordCount < 0 || recordCount > MAX_BATCH_PARTS)
    throw new RangeError(`it has ${recordCount} records; at most ${MAX_BATCH_PARTS} are read`)
  const hasBrokerTime = (attributes & LOG_APPEND_TIME) !== 0
  const cursor = new Cursor(bytes)
  const keys = new RepeatedText()
  let before = firstOffset - 1
  for (let i = 0; i < recordCount; i++) {
    const length = cursor.varint()
    const end = cursor.at + length
    cursor.at++ // attributes: none are in use
    const sentMs = firstTimestampMs + cursor.varint()
    const offset = firstOffset + cursor.varint()
    if (offset <= before || offset > lastOffset)
      throw new RangeError(`record ${i + 1} has the offset ${offset}; expected ${before + 1} to ${lastOffset}`)
    before = offset
    if (offset >= fromOffset) {
      const key = keys.next(cursor)
      const value = cursor.bytes() ?? NO_BYTES
      const timestampMs = hasBrokerTime ? maxTimestampMs : sentMs
      into.push({ topic, partition, offset, timestampMs, key, value, headers: headers.next(cursor) })
    }
    if (end < cursor.at || end > bytes.length) throw new RangeError(`record ${i + 1} has the length ${length}`)
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
