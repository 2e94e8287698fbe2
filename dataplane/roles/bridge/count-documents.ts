import type { BulkWriterDeps } from '../../pipeline/sinks/bulk-writer.ts'
import type { ThreadDeps } from './threads/thread-deps.ts'

/** Counts what is written at once, not after the commit: a document is created once, however often its record is processed. */
export function countDocuments(count: ThreadDeps['count']): NonNullable<BulkWriterDeps['onProgress']> {
  return ({ created, errors }) => {
    if (created > 0) count('indexed', created)
    if (errors > 0) count('indexErrors', errors)
  }
}
