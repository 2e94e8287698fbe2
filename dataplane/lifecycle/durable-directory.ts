import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Some file systems cannot sync a directory, and a parent may be closed to this user; neither keeps anybody from working. */
const TOLERATED: ReadonlySet<unknown> = new Set(['EINVAL', 'ENOTSUP', 'EACCES', 'EPERM', 'EISDIR', 'EROFS'])

/**
 * Makes a directory, with its parents, so that it is still there after a power cut: what is written into it, and synced, would be lost with its
 * name. Its own parent is synced also when the directory was there: a process that was killed may have made it.
 */
export function makeDurableDirectory(path: string, sync: (directory: string) => void = syncDirectory): void {
  make(resolve(path), sync)
}

/** Not with Node's `recursive`, which never ends below `/proc`. */
function make(directory: string, sync: (directory: string) => void): void {
  const parent = dirname(directory)
  if (!existsSync(directory)) {
    if (!existsSync(parent)) make(parent, sync)
    makeOne(directory)
  } else if (!statSync(directory).isDirectory()) throw new Error(`${directory} is not a directory`)
  sync(parent)
}

function makeOne(directory: string): void {
  try {
    mkdirSync(directory)
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function syncDirectory(directory: string): void {
  try {
    const descriptor = openSync(directory, 'r')
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (!TOLERATED.has((error as NodeJS.ErrnoException).code)) throw error
  }
}
