import { onceEvery } from '../../../limits/once-every.ts'
import type { ThreadDeps } from './thread-deps.ts'

const WARN_EVERY_MS = 60_000
const REASON_CHARACTERS = 300

/** Tells the log of documents that the store took with folded attributes alone, at most once a minute: each of them counts as an error of indexing. */
export function createFoldNotes({ log, clock }: Pick<ThreadDeps, 'log' | 'clock'>) {
  const mayWarn = onceEvery(WARN_EVERY_MS, () => clock.nowMs())
  let documents = 0
  return {
    /** `reason`: what the store said of the document as it was; it names the attribute. */
    note(index: string, reason: string): void {
      documents++
      if (!mayWarn()) return
      log.warn(
        { index, documents, reason: reason.slice(0, REASON_CHARACTERS) },
        'the search store refused documents as they were; they are stored with all their attributes in the field attributes: senders give one name values of several types, or continue a name that has a value',
      )
      documents = 0
    },
  }
}
