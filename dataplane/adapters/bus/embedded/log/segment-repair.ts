/** Closes gaps in a topic's log, so that the records on both sides of them stay readable, and retention finds every file. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { FRAME_MAGIC, FRAME_STATE, SALT_AT } from './bus-frame.ts'
import { FrameScanner, type ScannedFrame } from './frame-scanner.ts'
import type { LogFiles } from './log-files.ts'
import { encodeSegmentHeader, type SegmentHeader, segmentHeaderLength, segmentName } from './segment.ts'

export interface Gap {
  readonly directory: string
  readonly files: LogFiles
  /** A segment whose header is damaged, or whose file is missing. */
  readonly sequence: number
  /** Partitions of the topic, where no segment tells their number. */
  readonly partitions: number
  /** The header of the segment before, where there is a sound one. */
  readonly previous: SegmentHeader | undefined
  /** Undefined: the segment is the newest. */
  readonly next: SegmentHeader | undefined
}

/** A segment's first frame lies behind its header of at most 8 KiB, or a little later where it is damaged, too. */
const SEARCHED_BYTES = 4 << 20

/**
 * Writes a header by what the frames say; a missing segment becomes an empty one. The header is not synced: a repair that a power cut undoes is made
 * again.
 */
export async function repairSegment({ directory, files, sequence, partitions: expected, previous, next }: Gap): Promise<SegmentHeader> {
  const path = join(directory, segmentName(sequence))
  const file = await files.open(path)
  try {
    const before = join(directory, segmentName(sequence - 1))
    const ends = next?.baseOffsets ?? (previous === undefined ? new Array<number>(expected).fill(0) : endsOf(before, previous))
    const { salt, partitions } = findSalt(path, ends.length)
    const baseOffsets = ends.slice(0, partitions)
    const found = new Set<number>()
    for (const frame of framesOf(path, salt, segmentHeaderLength(partitions)))
      for (const { partition, baseOffset } of frame.header.sections) {
        if (partition < partitions && !found.has(partition)) baseOffsets[partition] = baseOffset
        found.add(partition)
      }
    const previousLength = previous === undefined ? 0 : lengthBefore(baseOffsets, before, previous)
    const header = { sequence, salt, createdMs: next?.createdMs ?? statSync(path).mtimeMs, previousLength, baseOffsets }
    await file.write([encodeSegmentHeader(header)], 0)
    return header
  } finally {
    await file.close()
  }
}

/** Salt and partitions by the place of the first frame; 0 for a segment without frames. */
function findSalt(path: string, maxPartitions: number) {
  const bytes = readStart(path)
  const position = bytes.indexOf(FRAME_MAGIC)
  if (position < segmentHeaderLength(0) || position + SALT_AT + 4 > bytes.length) return { salt: 0, partitions: maxPartitions }
  const partitions = Math.min(maxPartitions, Math.floor((position - segmentHeaderLength(0)) / 8))
  return { salt: bytes.readUInt32LE(position + SALT_AT), partitions }
}

/** Whether the start of the file has a frame, so that its header was on the disk once. */
export const mayHoldFrames = (path: string): boolean => readStart(path).includes(FRAME_MAGIC)

function readStart(path: string): Buffer {
  const descriptor = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(Math.min(SEARCHED_BYTES, fstatSync(descriptor).size))
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(descriptor)
  }
}

/** Frames of a write that failed were never acknowledged, and their offsets were given again: the segment before ends in front of them. */
function lengthBefore(baseOffsets: readonly number[], path: string, { salt, baseOffsets: { length } }: SegmentHeader): number {
  let end = segmentHeaderLength(length)
  for (const frame of framesOf(path, salt, end)) {
    const isBefore = frame.header.sections.every(({ partition, baseOffset, count }) => baseOffset + count <= (baseOffsets[partition] ?? 0))
    if (!isBefore || frame.header.state === FRAME_STATE.prepared) break
    end = frame.end
  }
  return end
}

/** By partition: the offset behind the last record of a segment. */
function endsOf(path: string, { salt, baseOffsets }: SegmentHeader): readonly number[] {
  const ends = [...baseOffsets]
  for (const frame of framesOf(path, salt, segmentHeaderLength(ends.length)))
    for (const { partition, baseOffset, count } of frame.header.sections)
      ends[partition] = Math.max(ends[partition] ?? 0, baseOffset + count)
  return ends
}

/** Each frame is valid until the next. */
function* framesOf(path: string, salt: number, from: number): Generator<ScannedFrame> {
  const descriptor = openSync(path, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const scanner = new FrameScanner(descriptor, salt, from, () => undefined)
    for (let frame = scanner.next(size); frame !== undefined; frame = scanner.next(size)) yield frame
  } finally {
    closeSync(descriptor)
  }
}
