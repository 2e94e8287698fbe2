import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DirectoryInUse, lockDirectory } from '../process/directory-lock.ts'

/** In `DATA_DIR`, while standalone runs there: the URL of its search store, for commands. It counts only while the directory is locked. */
export const SEARCH_ADDRESS_FILE = 'search-address'

/** Where the standalone that works in the directory has its store. */
export function readSearchAddress(dataDir: string): string | undefined {
  const path = join(dataDir, SEARCH_ADDRESS_FILE)
  // A full disk may have left it empty.
  return (existsSync(path) && readFileSync(path, 'utf8').trim()) || undefined
}

/** The same, undefined where none works there now. */
export function runningSearchAddress(dataDir: string): string | undefined {
  if (!existsSync(join(dataDir, SEARCH_ADDRESS_FILE))) return undefined
  try {
    lockDirectory(dataDir).release()
    return undefined
  } catch (error) {
    if (error instanceof DirectoryInUse) return readSearchAddress(dataDir)
    throw error
  }
}
