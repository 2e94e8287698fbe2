import { type IndexFiles, nodeFiles } from '../format/index-files.ts'

/** Real files on a disk that can be full. */
export interface FailingFiles extends IndexFiles {
  /** Bytes that may still be written; a write beyond writes what fits, then fails with ENOSPC. */
  room: number
  /** Lets the next syncs fail with EIO. */
  failSyncs: boolean
}

export function createFailingFiles(): FailingFiles {
  const files: FailingFiles = {
    ...nodeFiles,
    room: Number.POSITIVE_INFINITY,
    failSyncs: false,
    async write(fd, bytes, position) {
      take(fd, bytes, position)
    },
    writeSync: take,
    async sync(fd) {
      if (files.failSyncs) throw systemError('EIO')
      await nodeFiles.sync(fd)
    },
  }

  function take(fd: number, bytes: Uint8Array, position: number): void {
    const fits = Math.min(bytes.length, files.room)
    nodeFiles.writeSync(fd, bytes.subarray(0, fits), position)
    files.room -= fits
    if (fits < bytes.length) throw systemError('ENOSPC')
  }
  return files
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: simulated`), { code, syscall: 'write' })
}
