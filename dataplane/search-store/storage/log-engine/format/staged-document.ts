import type { MessageSpan } from './block/message-span.ts'
import type { StoredId } from './document-id.ts'

/** A document that is to be written. */
export interface StagedDocument {
  readonly id: StoredId
  readonly source: Uint8Array
  /** Where its message is one string that can stand apart. */
  readonly message?: MessageSpan | undefined
}
