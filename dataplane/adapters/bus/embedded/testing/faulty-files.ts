import { diskFiles, type LogFile, type LogFiles } from '../log/log-files.ts'

/** Thrown by a disk that fails; `code` is what the system would say. */
class DiskFailure extends Error {
  readonly code: string
  constructor(code: string) {
    super(`${code}: made to fail`)
    this.code = code
  }
}

/** The real file system with a disk that can be made to fail. Unset: it works. */
export interface FaultyFiles extends LogFiles {
  /** Bytes that still fit; a write beyond writes that much and fails with ENOSPC. */
  room: number
  writeError: string | undefined
  syncError: string | undefined
  truncateError: string | undefined
  free: number
  /** Room of the whole file system, in bytes. */
  size: number
  /** Runs before each write and after each sync, which wait for it. */
  onWrite: ((path: string, moment: 'before' | 'synced') => void | Promise<void>) | undefined
  syncs: number
}

export function createFaultyFiles(): FaultyFiles {
  const fail = (code: string | undefined) => {
    if (code !== undefined) throw new DiskFailure(code)
  }
  const files: FaultyFiles = {
    ...diskFiles,
    room: Number.POSITIVE_INFINITY,
    writeError: undefined,
    syncError: undefined,
    truncateError: undefined,
    free: Number.POSITIVE_INFINITY,
    size: Number.POSITIVE_INFINITY,
    onWrite: undefined,
    syncs: 0,
    space: async () => ({ freeBytes: files.free, sizeBytes: files.size }),
    open: async path => faulty(path, await diskFiles.open(path)),
  }
  const faulty = (path: string, file: LogFile): LogFile => ({
    ...file,
    async write(chunks, position) {
      await files.onWrite?.(path, 'before')
      fail(files.writeError)
      const all = Buffer.concat(chunks)
      const fitting = all.subarray(0, Math.min(all.length, files.room))
      files.room -= fitting.length
      await file.write([fitting], position)
      if (fitting.length < all.length) fail('ENOSPC')
    },
    async sync() {
      fail(files.syncError)
      await file.sync()
      files.syncs++
      await files.onWrite?.(path, 'synced')
    },
    async truncate(length) {
      fail(files.truncateError)
      await file.truncate(length)
    },
  })
  return files
}
