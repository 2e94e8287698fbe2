/** Second names for all files of a log index, for a backup: what a crash at this moment would leave. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { PinnedFile } from '../pinned-file.ts'
import type { IndexFiles } from './format/index-files.ts'

/** Drafts have no name that a start would look at. */
const OWN_FILES = /^(index\.json|\d+\.(seg|del))$/

/** `tail`: the segment that is written to, and how far it is durable. None in an index that could not be opened. */
export function pinLog(
  files: IndexFiles,
  from: string,
  to: string,
  tail?: { readonly path: string; readonly end: number },
): readonly PinnedFile[] {
  // It was deleted a moment ago.
  if (!existsSync(from)) return []
  mkdirSync(to, { recursive: true })
  return files
    .list(from)
    .filter(name => OWN_FILES.test(name))
    .map(name => {
      const path = join(to, name)
      files.link(join(from, name), path)
      return join(from, name) === tail?.path ? { path, bytes: tail.end } : { path }
    })
}
