import type { Segment } from './index-storage.ts'

/** A segment without documents. */
export const EMPTY_SEGMENT: Segment = {
  size: 0,
  liveCount: 0,
  minTimestampMs: Number.NaN,
  maxTimestampMs: Number.NaN,
  isLive: () => false,
  postings: () => undefined,
  column: () => undefined,
  counts: () => undefined,
  id: () => '',
  seqNo: () => 0,
  version: () => 0,
  source: () => new Uint8Array(0),
}
