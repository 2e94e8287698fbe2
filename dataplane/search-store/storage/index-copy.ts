/** An index as another process reads it. */
import type { FeedHead } from './index-feed.ts'
import type { ReadableIndex } from './index-storage.ts'

/** The index as the feed tells of it. */
export interface IndexCopy {
  apply(message: { readonly head: FeedHead; readonly bytes: Uint8Array }): void
  /** The state that counts now. */
  snapshot(): IndexSnapshot
  /** Memory it takes beside the cache, bytes; an estimate. */
  readonly memoryBytes: number
}

export interface IndexSnapshot {
  readonly name: string
  readonly uuid: string
  /** Reads the files that it needs. `step` is called now and then, and may end the work by throwing. Throws SnapshotGone when files are no longer there. */
  open(step: () => Promise<unknown>): Promise<ReadableIndex>
}

/** Segments were merged, or the index removed, since the snapshot was taken: a fresh one is needed. */
export class SnapshotGone extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(`${what} is no longer there`, options)
    this.name = 'SnapshotGone'
  }
}
