import { type IndexFiles, nodeFiles } from '../format/index-files.ts'

export type FileOperation = 'open' | 'read' | 'write' | 'sync' | 'rename' | 'remove' | 'truncate' | 'sync directory'

/** Real files on a disk that can be full, or fail otherwise. */
export interface FailingFiles extends IndexFiles {
  /** Bytes that may still be written; a write beyond writes what fits, then fails with ENOSPC. */
  room: number
  /** Lets the next syncs fail with EIO. */
  failSyncs: boolean
  /** The error's code where an operation on a file fails; of a directory, its path. */
  fault: ((operation: FileOperation, path: string) => string | undefined) | undefined
}

export function createFailingFiles(): FailingFiles {
  const paths = new Map<number, string>()
  const attempt = (operation: FileOperation, path: string) => {
    const code = files.fault?.(operation, path)
    if (code !== undefined) throw systemError(code, operation)
  }
  const opened = (path: string, open: (path: string) => number) => {
    attempt('open', path)
    const fd = open(path)
    paths.set(fd, path)
    return fd
  }
  const files: FailingFiles = {
    ...nodeFiles,
    room: Number.POSITIVE_INFINITY,
    failSyncs: false,
    fault: undefined,
    open: path => opened(path, nodeFiles.open),
    reopen: path => opened(path, nodeFiles.reopen),
    read(fd, length, position) {
      attempt('read', paths.get(fd)!)
      return nodeFiles.read(fd, length, position)
    },
    async write(fd, bytes, position) {
      take(fd, bytes, position)
    },
    writeSync: take,
    async sync(fd) {
      attempt('sync', paths.get(fd)!)
      if (files.failSyncs) throw systemError('EIO', 'sync')
      await nodeFiles.sync(fd)
    },
    syncSync(fd) {
      attempt('sync', paths.get(fd)!)
      nodeFiles.syncSync(fd)
    },
    truncate(fd, size) {
      attempt('truncate', paths.get(fd)!)
      nodeFiles.truncate(fd, size)
    },
    rename(from, to) {
      attempt('rename', from)
      nodeFiles.rename(from, to)
      for (const [fd, path] of paths) if (path === from) paths.set(fd, to)
    },
    remove(path) {
      attempt('remove', path)
      nodeFiles.remove(path)
    },
    syncDirectory(path) {
      attempt('sync directory', path)
      nodeFiles.syncDirectory(path)
    },
  }

  function take(fd: number, bytes: Uint8Array, position: number): void {
    const path = paths.get(fd)!
    const code = files.fault?.('write', path)
    const fits = code === undefined ? Math.min(bytes.length, files.room) : bytes.length >>> 1
    nodeFiles.writeSync(fd, bytes.subarray(0, fits), position)
    files.room -= fits
    if (fits < bytes.length || code !== undefined) throw systemError(code ?? 'ENOSPC', 'write')
  }
  return files
}

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: simulated, ${syscall}`), { code, syscall })
}
