/** Files: opening, reading, writing and syncing them. */
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { makeDurableDirectory } from '../../../../process/durable-directory.ts'

/** The file operations of the log engine; tests put failures here. */
export interface IndexFiles {
  /** Creates the file where missing. */
  open(path: string): number
  /** Opens a file that is there, for reading. */
  reopen(path: string): number
  close(fd: number): void
  sizeOf(fd: number): number
  /** Reads exactly `length` bytes; throws when there are fewer. */
  read(fd: number, length: number, position: number): Buffer
  write(fd: number, bytes: Uint8Array, position: number): Promise<void>
  writeSync(fd: number, bytes: Uint8Array, position: number): void
  sync(fd: number): Promise<void>
  syncSync(fd: number): void
  truncate(fd: number, size: number): void
  rename(from: string, to: string): void
  /** Gives the file a second name. */
  link(from: string, to: string): void
  /** No error when it is not there. */
  remove(path: string): void
  list(dir: string): readonly string[]
  isThere(path: string): boolean
  makeDirectory(dir: string): void
  removeDirectory(dir: string): void
  /** Makes creations, renames and removals in the directory durable. */
  syncDirectory(dir: string): void
}

export const nodeFiles: IndexFiles = {
  open: path => fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o640),
  reopen: path => fs.openSync(path, 'r'),
  close: fd => fs.closeSync(fd),
  sizeOf: fd => fs.fstatSync(fd).size,
  read(fd, length, position) {
    const bytes = Buffer.allocUnsafeSlow(length)
    let done = 0
    while (done < length) {
      const count = fs.readSync(fd, bytes, done, length - done, position + done)
      if (count === 0) throw new Error(`file ends at ${position + done}, expected ${length} bytes from ${position}`)
      done += count
    }
    return bytes
  },
  write(fd, bytes, position) {
    return new Promise((resolve, reject) => {
      let done = 0
      const next = () =>
        fs.write(fd, bytes, done, bytes.length - done, position + done, (error, count) => {
          if (error !== null) return reject(error)
          done += count
          return done < bytes.length ? next() : resolve()
        })
      next()
    })
  },
  writeSync(fd, bytes, position) {
    let done = 0
    while (done < bytes.length) done += fs.writeSync(fd, bytes, done, bytes.length - done, position + done)
  },
  sync: fd => new Promise((resolve, reject) => fs.fdatasync(fd, error => (error === null ? resolve() : reject(error)))),
  syncSync: fd => fs.fdatasyncSync(fd),
  truncate: (fd, size) => fs.ftruncateSync(fd, size),
  rename: (from, to) => fs.renameSync(from, to),
  link: (from, to) => fs.linkSync(from, to),
  remove: path => fs.rmSync(path, { force: true }),
  list: dir => fs.readdirSync(dir),
  isThere: path => fs.existsSync(path),
  makeDirectory: dir => {
    makeDurableDirectory(dir)
  },
  removeDirectory: dir => fs.rmSync(dir, { recursive: true, force: true }),
  syncDirectory(dir) {
    const fd = fs.openSync(dir, 'r')
    try {
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
  },
}

/** The same files for a process that only reads them: nothing is created. */
export const readOnlyFiles: IndexFiles = { ...nodeFiles, open: path => fs.openSync(path, 'r') }

/** Writes a small file whole and durably: readers see the old or the new content. */
export function replaceFile(files: IndexFiles, path: string, bytes: Uint8Array): void {
  const temporary = `${path}.tmp`
  files.remove(temporary)
  const fd = files.open(temporary)
  try {
    files.writeSync(fd, bytes, 0)
    files.syncSync(fd)
  } catch (error) {
    files.close(fd)
    files.remove(temporary)
    throw error
  }
  files.close(fd)
  files.rename(temporary, path)
  files.syncDirectory(dirname(path))
}

export function readWhole(files: IndexFiles, path: string): Buffer {
  const fd = files.open(path)
  try {
    return files.read(fd, files.sizeOf(fd), 0)
  } finally {
    files.close(fd)
  }
}
