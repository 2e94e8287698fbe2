/** An index as it was at one moment, for searches that come later. */
import type { FeedMessage, IndexFeed } from './index-feed.ts'

export interface FrozenIndex {
  readonly name: string
  readonly uuid: string
  /** Second names of files of the index: their bytes stay on disk until both names are gone. */
  readonly files: readonly string[]
  /** Documents that are held in memory for it, bytes. */
  readonly memoryBytes: number
  /** For one copy of it elsewhere. */
  feed(): IndexFeed
}

/** A feed that tells the same each time it begins. */
export function frozenFeed(messages: () => Iterable<FeedMessage>): IndexFeed {
  let isTold = false
  return {
    next() {
      if (isTold) return []
      isTold = true
      return messages()
    },
    reset() {
      isTold = false
    },
    close() {},
  }
}
