/** The header of a segment, which is one file of a topic's log. */
import { readSync } from 'node:fs'
import { crc32 } from 'node:zlib'

/**
 * A segment is one file of a topic's log: this header, then frames. Sequence numbers have no gaps.
 *
 *   0 magic u32 | 4 crc u32 (of byte 8 to the end) | 8 sequence u32 | 12 partition count u32 | 16 salt u32 | 20 zero
 *  24 created ms f64 | 32 previous length f64 | 40 base offset f64 per partition
 *
 * `previousLength` is how much of the segment before counts: what lies beyond was never acknowledged.
 */
export interface SegmentHeader {
  readonly sequence: number
  readonly salt: number
  readonly createdMs: number
  readonly previousLength: number
  /** By partition: offset of its first record in this segment or a later one. */
  readonly baseOffsets: readonly number[]
}

const MAGIC = 0x3153424c
const FIXED_BYTES = 40
const CHECKED_FROM = 8
const MAX_PARTITIONS = 1024
const NAME = /^(\d{10})\.log$/

export const segmentName = (sequence: number) => `${String(sequence).padStart(10, '0')}.log`

/** undefined for a file that is no segment. */
export function parseSegmentName(name: string): number | undefined {
  const match = NAME.exec(name)
  return match === null ? undefined : Number(match[1])
}

export const segmentHeaderLength = (partitions: number) => FIXED_BYTES + partitions * 8

export function encodeSegmentHeader(header: SegmentHeader): Buffer {
  const partitions = header.baseOffsets.length
  const bytes = Buffer.alloc(segmentHeaderLength(partitions))
  bytes.writeUInt32LE(MAGIC, 0)
  bytes.writeUInt32LE(header.sequence, 8)
  bytes.writeUInt32LE(partitions, 12)
  bytes.writeUInt32LE(header.salt, 16)
  bytes.writeDoubleLE(header.createdMs, 24)
  bytes.writeDoubleLE(header.previousLength, 32)
  for (const [partition, offset] of header.baseOffsets.entries()) bytes.writeDoubleLE(offset, FIXED_BYTES + partition * 8)
  bytes.writeUInt32LE(crc32(bytes.subarray(CHECKED_FROM)), 4)
  return bytes
}

/** undefined when the file does not start with a sound header. */
export function readSegmentHeader(descriptor: number): SegmentHeader | undefined {
  const fixed = Buffer.alloc(FIXED_BYTES)
  if (readSync(descriptor, fixed, 0, FIXED_BYTES, 0) < FIXED_BYTES || fixed.readUInt32LE(0) !== MAGIC) return undefined
  const partitions = fixed.readUInt32LE(12)
  if (partitions > MAX_PARTITIONS) return undefined
  const bytes = Buffer.alloc(segmentHeaderLength(partitions))
  if (readSync(descriptor, bytes, 0, bytes.length, 0) < bytes.length) return undefined
  if (crc32(bytes.subarray(CHECKED_FROM)) !== bytes.readUInt32LE(4)) return undefined
  return {
    sequence: bytes.readUInt32LE(8),
    salt: bytes.readUInt32LE(16),
    createdMs: bytes.readDoubleLE(24),
    previousLength: bytes.readDoubleLE(32),
    baseOffsets: Array.from({ length: partitions }, (_, partition) => bytes.readDoubleLE(FIXED_BYTES + partition * 8)),
  }
}
