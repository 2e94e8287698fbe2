import { type IndexFiles, nodeFiles } from '../format/index-files.ts'

/** Files on disk, and how often one of them was read. */
export function countReads(): { readonly files: IndexFiles; readonly count: () => number } {
  let count = 0
  const files: IndexFiles = {
    ...nodeFiles,
    read(fd, length, position) {
      count++
      return nodeFiles.read(fd, length, position)
    },
  }
  return { files, count: () => count }
}
