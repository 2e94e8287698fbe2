import { setFlagsFromString } from 'node:v8'

/**
 * Whether V8 marks the heaps of this process in one go, rather than bit by bit beside the work. While it marks bit by bit it keeps nearly all buffers that come:
 * those of a small heap beside many buffers double its memory. Counts for compiled code, as `letHeapsGrow` does.
 */
export function markHeapsAtOnce(atOnce: boolean): void {
  setFlagsFromString(atOnce ? '--no-incremental-marking' : '--incremental-marking')
}
