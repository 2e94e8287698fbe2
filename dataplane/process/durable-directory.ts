import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const OWNER_ALONE = 0o700
/** Some file systems cannot sync a directory, and a parent may be closed to this user; neither keeps anybody from working. */
const TOLERATED: ReadonlySet<unknown> = new Set(['EINVAL', 'ENOTSUP', 'EACCES', 'EPERM', 'EISDIR', 'EROFS'])

/**
 * Makes a directory, with its parents, so that its name survives a power cut: synced files in it would be lost with the name. The parent is synced also
 * when the directory was there, since a process that was killed may have made it. Its user alone may enter the directory, which holds what tenants sent; its
 * parents have the mode that all new directories have. `prefix` begins the message of a failure.
 */
export function makeDurableDirectory(path: string, sync: (directory: string) => void = syncDirectory, prefix = 'DATA_DIR: '): void {
  const directory = resolve(path)
  try {
    make(directory, sync, OWNER_ALONE)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw Object.assign(new Error(`${prefix}the directory ${directory} cannot be made: ${message}`, { cause: error }), { code })
  }
}

/** Not with Node's `recursive`, which never ends below `/proc`. */
function make(directory: string, sync: (directory: string) => void, mode: number | undefined): void {
  const parent = dirname(directory)
  if (!existsSync(directory)) {
    if (!existsSync(parent)) make(parent, sync, undefined)
    makeOne(directory, mode)
  } else if (!statSync(directory).isDirectory()) throw new Error('something else has this name')
  sync(parent)
}

function makeOne(directory: string, mode: number | undefined): void {
  try {
    mkdirSync(directory, { mode })
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Makes the names of files in it durable. */
export function syncDirectory(directory: string): void {
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
