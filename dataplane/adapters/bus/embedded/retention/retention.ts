import { TOLERATED_MS } from '../../../../limits/believed-time.ts'
import type { SegmentInfo } from '../log/segment-list.ts'

/**
 * How many of the oldest segments are past retention. The active one, the last, stays.
 * A segment's last record is no younger than the next segment's creation; one that was begun by a clock that was ahead says nothing.
 */
export function countExpiredSegments(segments: readonly SegmentInfo[], retentionMs: number, nowMs: number): number {
  let count = 0
  for (const [i, { createdMs }] of segments.entries()) {
    if (i === 0 || createdMs > nowMs + TOLERATED_MS) continue
    if (createdMs > nowMs - retentionMs) break
    count = i
  }
  return count
}

/**
 * How many of the oldest segments a group has read to their ends; the active one never counts.
 * `offsets`: by partition, the next one that the group will read.
 */
export function countReadSegments(segments: readonly SegmentInfo[], offsets: Float64Array): number {
  let count = 0
  while (count < segments.length - 1 && segments[count + 1]!.baseOffsets.every((base, partition) => base <= (offsets[partition] ?? 0)))
    count++
  return count
}

/** How many of the `readCount` oldest segments are left when the newest of these stay that hold at least `keptBytes`. */
export function countSpareSegments(segments: readonly SegmentInfo[], readCount: number, keptBytes: number): number {
  let count = readCount
  for (let kept = 0; count > 0 && kept < keptBytes; count--) kept += segments[count - 1]!.length
  return count
}

/** Bytes of the segments that a group has still to read, in part or as a whole. */
export function unreadBytes(segments: readonly SegmentInfo[], offsets: Float64Array, endOffsets: Float64Array): number {
  if (endOffsets.every((end, partition) => end <= (offsets[partition] ?? 0))) return 0
  let bytes = 0
  for (const { length } of segments.slice(countReadSegments(segments, offsets))) bytes += length
  return bytes
}
