/** Locks a directory, so that one process works in it. */
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeDurableDirectory } from './durable-directory.ts'

export interface DirectoryLock {
  readonly directory: string
  release(): void
}

/** Another process (or another part of this one) works in the directory. */
export class DirectoryInUse extends Error {
  readonly directory: string
  constructor(directory: string, holder: string | undefined) {
    const who = holder === undefined ? 'another process' : `process ${holder}`
    super(`${directory} is in use by ${who}: stop it first, or choose another directory`)
    this.name = 'DirectoryInUse'
    this.directory = directory
  }
}

const SQLITE_BUSY = 5
/** A database that nobody refers to is closed by the garbage collector, and its lock is gone. */
const held = new Set<DatabaseSync>()

/**
 * Takes the directory for this process alone, making it where it is missing; throws `DirectoryInUse` when it is taken.
 *
 * The lock is SQLite's exclusive file lock, so the kernel drops it however the process ends, and no stale file can keep it.
 * Decisions 8.
 */
export function lockDirectory(directory: string): DirectoryLock {
  makeDurableDirectory(directory)
  assertWritable(directory)
  // Nothing else may open `lock`: closing any descriptor of it would drop the lock. The holder's name has a file of its own.
  const holderFile = join(directory, 'lock.holder')
  const database = new DatabaseSync(join(directory, 'lock'), { timeout: 0 })
  try {
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (isBusy(error)) throw new DirectoryInUse(directory, readHolder(holderFile))
    throw new Error(`${directory} cannot be locked`, { cause: error })
  }
  writeHolder(holderFile)
  held.add(database)
  return {
    directory,
    release() {
      if (held.delete(database)) database.close()
    },
  }
}

/** SQLite says of a file system that is read-only, and of a directory of another user, that its file cannot be opened. */
function assertWritable(directory: string): void {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new Error(`DATA_DIR: the directory ${directory} cannot be written`, { cause: error })
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}

/** For the message alone; the lock does not depend on it, so neither a full disk nor a half-written file matters. */
function writeHolder(file: string): void {
  try {
    writeFileSync(file, `${process.pid}\n`)
  } catch {
    return
  }
}

function readHolder(file: string): string | undefined {
  try {
    return /^\d+/.exec(readFileSync(file, 'utf8'))?.[0]
  } catch {
    return undefined
  }
}
