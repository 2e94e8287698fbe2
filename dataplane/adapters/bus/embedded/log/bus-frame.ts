/** The format of a frame: one batch of records in a topic's log. */
import { crc32 } from 'node:zlib'

/**
 * A frame is one batch of records in a topic's log, little-endian:
 *
 *   0 magic u32 | 4 header crc u32 (of byte 9 to the header's end) | 8 state u8 | 9 codec u8 | 10 section count u16
 *  12 body length u32 | 16 raw length u32 | 20 body crc u32 | 24 timestamp ms f64 | 32 transaction id f64
 *  40 record count u32 | 44 salt u32 | 48 sections, each: partition u32, count u32, base offset f64
 *
 * then the body: the records of all sections, section by section (see record-batch.ts).
 * The state lies outside the checksum because a transaction's decision is written in place; any two states differ in four bits or more.
 * The salt is the segment's own random number: bytes of a record that look like a frame are not taken for one.
 */
const MAGIC = 0x3146424c
const FIXED_BYTES = 48
const SECTION_BYTES = 16
const CHECKED_FROM = 9
export const STATE_AT = 8
export const SALT_AT = 44
export const FRAME_MAGIC = Buffer.from(new Uint32Array([MAGIC]).buffer)
export const MIN_FRAME_BYTES = FIXED_BYTES

export const FRAME_STATE = { plain: 0x0f, prepared: 0x33, committed: 0x55, aborted: 0xaa } as const
export type FrameState = (typeof FRAME_STATE)[keyof typeof FRAME_STATE]
const STATES: ReadonlySet<number> = new Set(Object.values(FRAME_STATE))

export const CODEC = { none: 0, zstd: 1 } as const
export type Codec = (typeof CODEC)[keyof typeof CODEC]

/** A batch as a sender makes it; the owner of the log stamps the header. Both travel between threads. */
export interface EncodedFrame {
  readonly header: Uint8Array
  readonly body: Uint8Array
}

export interface SectionSize {
  readonly partition: number
  readonly count: number
}

export interface Section extends SectionSize {
  readonly baseOffset: number
}

export interface BusFrameHeader {
  readonly state: FrameState
  readonly codec: Codec
  readonly headerLength: number
  readonly bodyLength: number
  readonly rawLength: number
  readonly bodyCrc: number
  readonly timestampMs: number
  readonly transactionId: number
  readonly recordCount: number
  readonly sections: readonly Section[]
}

/** A header without offsets, time, transaction and salt: these are the owner's to give. */
export function encodeFrame(codec: Codec, rawLength: number, body: Uint8Array, sections: readonly SectionSize[]): EncodedFrame {
  const header = Buffer.alloc(FIXED_BYTES + sections.length * SECTION_BYTES)
  header.writeUInt32LE(MAGIC, 0)
  header[CHECKED_FROM] = codec
  header.writeUInt16LE(sections.length, 10)
  header.writeUInt32LE(body.length, 12)
  header.writeUInt32LE(rawLength, 16)
  header.writeUInt32LE(crc32(body), 20)
  let recordCount = 0
  let at = FIXED_BYTES
  for (const section of sections) {
    header.writeUInt32LE(section.partition, at)
    header.writeUInt32LE(section.count, at + 4)
    recordCount += section.count
    at += SECTION_BYTES
  }
  header.writeUInt32LE(recordCount, 40)
  return { header, body }
}

export interface FrameStamp {
  readonly timestampMs: number
  readonly salt: number
  /** 0 outside a transaction. */
  readonly transactionId: number
}

/** Completes the header in place and moves `nextOffsets` (by partition) on by what the frame holds. */
export function stampFrame(bytes: Uint8Array, stamp: FrameStamp, nextOffsets: Float64Array): void {
  const header = asBuffer(bytes)
  header[STATE_AT] = stamp.transactionId === 0 ? FRAME_STATE.plain : FRAME_STATE.prepared
  header.writeDoubleLE(stamp.timestampMs, 24)
  header.writeDoubleLE(stamp.transactionId, 32)
  header.writeUInt32LE(stamp.salt, SALT_AT)
  for (let at = FIXED_BYTES; at < header.length; at += SECTION_BYTES) {
    const partition = header.readUInt32LE(at)
    const base = nextOffsets[partition]!
    header.writeDoubleLE(base, at + 8)
    nextOffsets[partition] = base + header.readUInt32LE(at + 4)
  }
  header.writeUInt32LE(crc32(header.subarray(CHECKED_FROM)), 4)
}

/** Whether `partitions` many partitions can take the frame: a check on what another thread sent. */
export function fitsTopic(bytes: Uint8Array, partitions: number): boolean {
  const header = asBuffer(bytes)
  for (let at = FIXED_BYTES; at < header.length; at += SECTION_BYTES) if (header.readUInt32LE(at) >= partitions) return false
  return true
}

/** Length of the header that starts at `at`, 0 when none can; needs `MIN_FRAME_BYTES`. */
export function headerLengthAt(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) === MAGIC ? FIXED_BYTES + bytes.readUInt16LE(at + 10) * SECTION_BYTES : 0
}

/** The header at `at`, which must be there in full; undefined when it is not a sound one of this segment. */
export function parseFrameHeader(bytes: Buffer, at: number, headerLength: number, salt: number): BusFrameHeader | undefined {
  if (bytes.readUInt32LE(at + SALT_AT) !== salt) return undefined
  if (crc32(bytes.subarray(at + CHECKED_FROM, at + headerLength)) !== bytes.readUInt32LE(at + 4)) return undefined
  const state = bytes[at + STATE_AT]!
  if (!STATES.has(state)) return undefined
  const sections: Section[] = []
  for (let s = at + FIXED_BYTES; s < at + headerLength; s += SECTION_BYTES)
    sections.push({ partition: bytes.readUInt32LE(s), count: bytes.readUInt32LE(s + 4), baseOffset: bytes.readDoubleLE(s + 8) })
  return {
    state: state as FrameState,
    codec: bytes[at + CHECKED_FROM] as Codec,
    headerLength,
    bodyLength: bytes.readUInt32LE(at + 12),
    rawLength: bytes.readUInt32LE(at + 16),
    bodyCrc: bytes.readUInt32LE(at + 20),
    timestampMs: bytes.readDoubleLE(at + 24),
    transactionId: bytes.readDoubleLE(at + 32),
    recordCount: bytes.readUInt32LE(at + 40),
    sections,
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
