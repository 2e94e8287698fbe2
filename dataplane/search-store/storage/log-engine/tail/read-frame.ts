/** Commits as they stand in the file of a segment. */
import { decodeFrame, FRAME_HEADER_BYTES, type Frame, frameLength } from '../format/frame.ts'
import type { SegmentFile } from '../format/segment-file.ts'
import { MAX_SEGMENT_DOCS } from './tail.ts'

/** Undefined where the frame at `at` does not lie whole and sound before `sizeBytes`. */
export function readFrame(file: SegmentFile, at: number, sizeBytes: number, firstDoc: number): Frame | undefined {
  if (at + FRAME_HEADER_BYTES > sizeBytes) return undefined
  const length = frameLength(file.read(FRAME_HEADER_BYTES, at))
  if (length === undefined || at + length > sizeBytes) return undefined
  const frame = decodeFrame(file.read(length, at), at, firstDoc)
  return frame !== undefined && firstDoc + frame.docs <= MAX_SEGMENT_DOCS ? frame : undefined
}

/** Numbers of the segments that an unsealed one took the place of: a merged one that has lost its index. */
export const replacedBy = (file: SegmentFile): readonly number[] => readFrame(file, 0, file.sizeBytes, 0)?.head.replaces ?? []

/** Whether the documents of a segment that has lost its index are in commits. */
export const hasCommits = (file: SegmentFile): boolean => readFrame(file, 0, file.sizeBytes, 0) !== undefined
