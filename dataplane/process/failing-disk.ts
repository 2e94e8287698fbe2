/** Errors of the disk that holds the data, with what to do about them: what the system says names no file where a file was open already. */
import { resolve } from 'node:path'
import { describeProblem } from './describe-problem.ts'

const FULL = 'is full: make room on it'
const BROKEN = "cannot be read or written: look at it, and into the kernel's log"
const READ_ONLY = 'is mounted read-only: mount it for writing'
const REMEDIES: ReadonlyMap<unknown, string> = new Map([
  ['ENOSPC', FULL],
  ['EDQUOT', 'has no more room for this user: make room on it, or raise the quota'],
  ['EROFS', READ_ONLY],
  ['EIO', BROKEN],
])
/** Primary codes of SQLite's errors. */
const SQLITE_REMEDIES: ReadonlyMap<unknown, string> = new Map([
  [10, BROKEN],
  [13, FULL],
])

/** The error of a start on `dataDir`: where its disk fails, one that names the setting and the remedy. */
export function withFailingDisk(error: unknown, dataDir: string): unknown {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, errcode } = at as { readonly code?: unknown; readonly errcode?: unknown }
    const remedy = REMEDIES.get(code) ?? SQLITE_REMEDIES.get(Number(errcode) & 0xff)
    if (remedy !== undefined)
      return new Error(`DATA_DIR: the disk of ${resolve(dataDir)} ${remedy}, and start again (${describeProblem(error)})`, { cause: error })
  }
  return error
}
