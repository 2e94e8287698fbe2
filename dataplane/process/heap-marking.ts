import { setFlagsFromString } from 'node:v8'

/** A body from here on is large: its buffers outweigh the objects that are made of it. */
const LARGE_BODY_BYTES = 16_384
/** Bodies by whose mean size is chosen. */
const BODIES_PER_CHOICE = 256

export interface HeapMarking {
  /** To be called for each body, with its size in bytes. */
  noteBody(bytes: number): void
  /** V8 marks as by default again: to be called before the end, as `letHeapsGrow(0)` is. */
  stop(): void
}

/**
 * Chooses by the bodies that a process takes in whether V8 marks its heap in one go, or bit by bit beside the work, as by default. While it marks bit by bit
 * it keeps nearly all buffers that come, which doubles the memory where they are large. In one go it pauses for longer, and costs more where bodies are small.
 * For a process with one heap at work, and that small. Counts for compiled code, as `letHeapsGrow` does.
 */
export function createHeapMarking(): HeapMarking {
  let isAtOnce = false
  let bodies = 0
  let bytes = 0
  const mark = (atOnce: boolean) => {
    if (atOnce !== isAtOnce) setFlagsFromString(atOnce ? '--no-incremental-marking' : '--incremental-marking')
    isAtOnce = atOnce
  }
  return {
    noteBody(size) {
      bytes += size
      if (++bodies < BODIES_PER_CHOICE) return
      mark(bytes >= bodies * LARGE_BODY_BYTES)
      bodies = 0
      bytes = 0
    },
    stop: () => mark(false),
  }
}
