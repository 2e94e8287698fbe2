import type { DocumentRejected } from '../mapping/document-rejected.ts'
import type { WriteOutcome } from './index-storage.ts'

/** The outcome of an operation whose document the index refuses. */
export function rejectedWrite({ type, message, causedBy }: DocumentRejected): WriteOutcome {
  return { error: { type, reason: message, status: 400, causedBy } }
}
