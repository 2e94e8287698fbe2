import { basename, dirname } from 'node:path'
import type { PowerCutDisk } from '../../../../testing/power-cut-disk.ts'
import type { IndexFiles } from '../format/index-files.ts'

/** The files of an index on a disk in memory. */
export function powerCutFiles(disk: PowerCutDisk): IndexFiles {
  const opened: ReturnType<PowerCutDisk['open']>[] = []
  return {
    open: path => opened.push(disk.open(path)) - 1,
    reopen: path => opened.push(disk.open(path)) - 1,
    close: () => undefined,
    sizeOf: fd => opened[fd]!.bytes.length,
    read(fd, length, position) {
      const { bytes } = opened[fd]!
      if (position + length > bytes.length) throw new Error(`file ends at ${bytes.length}, expected ${length} bytes from ${position}`)
      // Memory of its own, as readers give it back.
      const read = Buffer.allocUnsafeSlow(length)
      bytes.copy(read, 0, position, position + length)
      return read
    },
    write: async (fd, bytes, position) => disk.write(opened[fd]!, bytes, position),
    writeSync: (fd, bytes, position) => disk.write(opened[fd]!, bytes, position),
    sync: async fd => disk.sync(opened[fd]!),
    syncSync: fd => disk.sync(opened[fd]!),
    truncate: (fd, size) => disk.truncate(opened[fd]!, size),
    rename: (from, to) => disk.rename(from, to),
    link: () => {
      throw new Error('an index that nobody copies makes no links')
    },
    remove: path => disk.remove(path),
    list: directory => disk.list(directory),
    isThere: path => disk.list(dirname(path)).includes(basename(path)),
    makeDirectory: () => undefined,
    removeDirectory: () => {
      throw new Error('an index that nobody deletes removes no directory')
    },
    syncDirectory: directory => disk.syncDirectory(directory),
  }
}
