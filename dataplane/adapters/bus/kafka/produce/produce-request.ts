/** The Produce request and what the broker answers, as bytes; versions 9 to 11 share both forms. */
import { type Reader, Writer } from '../library.ts'

export interface EncodedBatch {
  readonly partition: number
  readonly bytes: Buffer
}

/** Error codes by partition; 0: written. */
export type ProduceAnswer = ReadonlyMap<number, number>

const ALL_IN_SYNC = -1
/** Everything but the two texts and the batches. */
const FRAME_BYTES = 32
/** Number, length and tagged fields of a partition. */
const PARTITION_BYTES = 10

/** The request with `acks=all`, in few parts: the library makes a buffer of each value that is appended alone. */
export function encodeProduce(topic: string, batches: readonly EncodedBatch[], timeoutMs: number, transactionalId: string | null): Writer {
  const texts = Buffer.byteLength(topic) + Buffer.byteLength(transactionalId ?? '')
  const frame = Buffer.allocUnsafe(FRAME_BYTES + texts + PARTITION_BYTES * batches.length)
  const writer = Writer.create()
  let at = writeText(frame, 0, transactionalId)
  at = frame.writeInt16BE(ALL_IN_SYNC, at)
  at = frame.writeInt32BE(timeoutMs, at)
  at = writeCount(frame, at, 1)
  at = writeText(frame, at, topic)
  at = writeCount(frame, at, batches.length)
  let start = 0
  for (const { partition, bytes } of batches) {
    at = frame.writeInt32BE(partition, at)
    at = writeCount(frame, at, bytes.length)
    writer.append(frame.subarray(start, at)).append(bytes)
    start = at
    at = writeNoTags(frame, at)
  }
  at = writeNoTags(frame, at) // of the topic
  at = writeNoTags(frame, at) // of the request
  return writer.append(frame.subarray(start, at))
}

/** Throws for an answer that ends too early. */
export function parseProduceAnswer(_correlationId: number, _apiKey: number, _apiVersion: number, reader: Reader): ProduceAnswer {
  const answer = new AnswerBytes(reader.buffer.slice(reader.position))
  const codes = new Map<number, number>()
  for (let topics = answer.count(); topics > 0; topics--) {
    answer.skip(answer.count()) // name
    for (let partitions = answer.count(); partitions > 0; partitions--) {
      const partition = answer.int32()
      codes.set(partition, answer.int16())
      answer.skip(OFFSETS_BYTES)
      for (let errors = answer.count(); errors > 0; errors--) {
        answer.skip(4) // record
        answer.skip(answer.count()) // message
        answer.skipTags()
      }
      answer.skip(answer.count()) // message
      answer.skipTags()
    }
    answer.skipTags()
  }
  return codes
}

/** Base offset, time of appending, and first offset of the log. */
const OFFSETS_BYTES = 24

class AnswerBytes {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  int16(): number {
    const value = this.#bytes.readInt16BE(this.#at)
    this.#at += 2
    return value
  }

  int32(): number {
    const value = this.#bytes.readInt32BE(this.#at)
    this.#at += 4
    return value
  }

  /** How many elements a compact array has, or bytes a compact text; 0 where there is none. */
  count(): number {
    return Math.max(0, this.#varint() - 1)
  }

  skip(bytes: number): void {
    this.#at += bytes
  }

  skipTags(): void {
    for (let tags = this.#varint(); tags > 0; tags--) {
      this.#varint() // which
      this.skip(this.#varint())
    }
  }

  #varint(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes.readUInt8(this.#at++)
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
  }
}

/** Counts and lengths are one more than what they count, as 0 stands for none. */
function writeCount(out: Buffer, start: number, count: number): number {
  let at = start
  let rest = count + 1
  for (; rest >= 0x80; rest >>>= 7) out[at++] = (rest & 0x7f) | 0x80
  out[at++] = rest
  return at
}

function writeText(out: Buffer, start: number, text: string | null): number {
  if (text === null) return out.writeUInt8(0, start)
  const at = writeCount(out, start, Buffer.byteLength(text))
  return at + out.write(text, at)
}

/** No tagged fields. */
const writeNoTags = (out: Buffer, start: number): number => out.writeUInt8(0, start)
