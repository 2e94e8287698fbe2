import type { BulkOperation } from '../../ports/search-store.ts'

/** How many bytes of documents go into one bulk request: fewer when the store says that it is too much, more again as it goes well. */
export interface BulkSize {
  readonly bytes: number
  /** The first operations of a list that fit; at least one. */
  take(operations: readonly BulkOperation[]): readonly BulkOperation[]
  /** The store took too long, had no room (413), or did not answer. */
  shrink(): void
  /** The store has too much to do (429): smaller requests may be easier for it, many more of them are not. */
  shrinkForBusy(): void
  grow(): void
}

const LEAST_BYTES = 16 * 1024
const MOST_BYTES = 8 * 1024 * 1024
/** A store that refuses requests as busy gets none below this part of the most for it, even when it refuses them all. */
const LEAST_BUSY_SHARE = 1 / 16
const GROWTH = 1.1

export function createBulkSize(mostBytes = MOST_BYTES): BulkSize {
  let bytes = mostBytes
  const halve = (leastBytes: number) => {
    bytes = Math.min(bytes, Math.max(leastBytes, Math.floor(bytes / 2)))
  }
  return {
    get bytes() {
      return bytes
    },
    take(operations) {
      let sum = 0
      const end = operations.findIndex((operation, at) => {
        sum += sizeOf(operation)
        return sum > bytes && at > 0
      })
      return end < 0 ? operations : operations.slice(0, end)
    },
    shrink: () => halve(LEAST_BYTES),
    shrinkForBusy: () => halve(Math.max(LEAST_BYTES, LEAST_BUSY_SHARE * mostBytes)),
    grow() {
      bytes = Math.min(mostBytes, Math.ceil(bytes * GROWTH))
    },
  }
}

/** About; of text the characters. */
const sizeOf = ({ body, upsert }: BulkOperation): number => body.length + (upsert?.length ?? 0)
