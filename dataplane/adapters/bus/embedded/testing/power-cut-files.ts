/** The real file system, and beside it a disk in memory on which the same happens: that one is stopped. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { Contents, PowerCutDisk } from '../../../../testing/power-cut-disk.ts'
import { diskFiles, type LogFiles } from '../log/log-files.ts'

export function powerCutFiles(disk: PowerCutDisk): LogFiles {
  return {
    ...diskFiles,
    space: async () => ({ freeBytes: Number.POSITIVE_INFINITY, sizeBytes: Number.POSITIVE_INFINITY }),
    async open(path) {
      const file = disk.open(path)
      const real = await diskFiles.open(path)
      return {
        async write(chunks, position) {
          disk.write(file, Buffer.concat(chunks), position)
          await real.write(chunks, position)
        },
        async sync() {
          disk.sync(file)
        },
        async truncate(length) {
          disk.truncate(file, length)
          await real.truncate(length)
        },
        close: () => real.close(),
      }
    },
    async syncDirectory(path) {
      disk.syncDirectory(path)
    },
    async remove(path) {
      disk.remove(path)
      await diskFiles.remove(path)
    },
    async rename(from, to) {
      disk.rename(from, to)
      await diskFiles.rename(from, to)
    },
  }
}

/** The files of `directory` as a stop has left them, in a directory of their own that is gone after `use`. */
export async function withContents<T>(directory: string, contents: Contents, use: (dir: string) => Promise<T>): Promise<T> {
  const copy = mkdtempSync(join(tmpdir(), 'bus-'))
  try {
    for (const [path, bytes] of contents) {
      const target = join(copy, relative(directory, path))
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, bytes)
    }
    return await use(copy)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
