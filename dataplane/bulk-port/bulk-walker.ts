/** Work that the search store has done on a bulk in the thread that makes the documents, so that less is left to its own. */
import type { PackedBulk } from './packed-bulk.ts'

/** The store's part in another thread, one for each port. Its messages are its own: they go along with bulks and their answers. */
export interface BulkWalker {
  /** The message that goes along with a bulk, and the memory in it that is handed over; undefined where there is none. */
  walk(bulk: PackedBulk): { readonly message: unknown; readonly transfer: readonly ArrayBuffer[] } | undefined
  /** Takes the message that came along with an answer. */
  learn(message: unknown): void
}
