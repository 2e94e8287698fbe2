/** The file system as the bus writes to it; a test can make it fail. */
import fs from 'node:fs'
import { promisify } from 'node:util'

/** A file that the bus writes to. */
export interface LogFile {
  /** Writes all of it, or throws with part of it written. */
  write(chunks: readonly Uint8Array[], position: number): Promise<void>
  /** Resolves once everything written is on the disk. */
  sync(): Promise<void>
  truncate(length: number): Promise<void>
  close(): Promise<void>
}

/** All that the bus changes on disk goes through here, so that a test can make a disk fail. */
export interface LogFiles {
  /** Opens for writing, making the file where it is missing. */
  open(path: string): Promise<LogFile>
  syncDirectory(path: string): Promise<void>
  remove(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** Room of the file system that holds the path. */
  space(path: string): Promise<{ readonly freeBytes: number; readonly sizeBytes: number }>
}

const open = promisify(fs.open)
const writev = promisify(fs.writev)
const fdatasync = promisify(fs.fdatasync)
const fsync = promisify(fs.fsync)
const ftruncate = promisify(fs.ftruncate)
const close = promisify(fs.close)

/** The real file system. */
export const diskFiles: LogFiles = {
  async open(path) {
    const descriptor = await open(path, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o640)
    const named = nameIn(path)
    return {
      write: (chunks, position) => writeAll(descriptor, chunks, position).catch(named),
      sync: () => fdatasync(descriptor).catch(named),
      truncate: length => ftruncate(descriptor, length).catch(named),
      close: () => close(descriptor),
    }
  },
  async syncDirectory(path) {
    const descriptor = await open(path, 'r')
    try {
      await fsync(descriptor)
    } finally {
      await close(descriptor)
    }
  },
  remove: path => fs.promises.unlink(path),
  rename: (from, to) => fs.promises.rename(from, to),
  async space(path) {
    const { bavail, blocks, bsize } = await fs.promises.statfs(path)
    return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize }
  },
}

/** Node's errors of an open file do not name it. */
const nameIn = (path: string) => (error: NodeJS.ErrnoException) => {
  error.message += ` '${path}'`
  throw error
}

/** `writev` may write less than it was given. */
async function writeAll(descriptor: number, chunks: readonly Uint8Array[], start: number): Promise<void> {
  let rest = chunks
  let position = start
  while (rest.length > 0) {
    const { bytesWritten } = await writev(descriptor, rest as Uint8Array[], position)
    if (bytesWritten === 0) throw Object.assign(new Error('the disk takes no more'), { code: 'ENOSPC' })
    position += bytesWritten
    rest = dropBytes(rest, bytesWritten)
  }
}

function dropBytes(chunks: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  let left = count
  let index = 0
  while (index < chunks.length && chunks[index]!.length <= left) left -= chunks[index++]!.length
  const rest = chunks.slice(index)
  return left === 0 ? rest : [rest[0]!.subarray(left), ...rest.slice(1)]
}
