import type { SegmentInfo } from './segment-list.ts'

/**
 * How many of the oldest segments are past retention. The active one, the last, stays.
 * A segment's last record is no younger than the next segment's creation.
 */
export function countExpiredSegments(segments: readonly SegmentInfo[], retentionMs: number, nowMs: number): number {
  let count = 0
  while (count < segments.length - 1 && segments[count + 1]!.createdMs <= nowMs - retentionMs) count++
  return count
}

/** Whether the oldest segment may go before its time: it is not the active one, and every consumer group has read it. */
export function isOldestSpare(
  segments: readonly SegmentInfo[],
  /** By partition: offset up to which every group has read; Infinity where none reads. */
  consumedUpTo: Float64Array,
): boolean {
  const next = segments[1]
  return next?.baseOffsets.every((base, partition) => base <= (consumedUpTo[partition] ?? Number.POSITIVE_INFINITY)) ?? false
}
