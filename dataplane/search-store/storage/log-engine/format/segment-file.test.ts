import { expect } from 'chai'
import { describe, it } from 'mocha'
import { SnapshotGone } from '../../index-copy.ts'
import { nodeFiles } from './index-files.ts'
import { SegmentFile } from './segment-file.ts'

const FILES = 3_000
const MAX_OPEN = 2_048

/** Files without content, whose names say what is read of them. */
function createNamedFiles() {
  const open = new Map<number, string>()
  const removed = new Set<string>()
  let descriptors = 0
  const add = (path: string): number => {
    open.set(++descriptors, path)
    return descriptors
  }
  return {
    ...nodeFiles,
    open: add,
    reopen(path: string): number {
      if (removed.has(path)) throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT', syscall: 'open' })
      return add(path)
    },
    close: (fd: number) => void open.delete(fd),
    read(fd: number) {
      const name = open.get(fd)
      if (name === undefined) throw new Error(`descriptor ${fd} is not open`)
      return Buffer.from(name)
    },
    remove: (path: string) => void removed.add(path),
    get openCount() {
      return open.size
    },
  }
}

describe('files of sealed segments', () => {
  it('are not all open at a time, and all of them can be read', () => {
    const files = createNamedFiles()
    const segments = Array.from({ length: FILES }, (_none, number) => new SegmentFile(files, `${number}.seg`))
    for (const segment of segments) segment.shareDescriptor(segment.path)
    for (let round = 0; round < 2; round++) for (const segment of segments) expect(segment.read(1, 0).toString()).to.equal(segment.path)
    expect(files.openCount).to.be.within(1, MAX_OPEN)
    for (const segment of segments) segment.close()
    expect(files.openCount).to.equal(0)
  })

  it('stay open while nobody has said that they are only read: of each the descriptor is the one that it was opened with', () => {
    const files = createNamedFiles()
    const segments = Array.from({ length: FILES }, (_none, number) => new SegmentFile(files, `${number}.seg`))
    expect(files.openCount).to.equal(FILES)
    for (const segment of segments) segment.close()
  })

  it('are read on after they are removed where that was told before, and are said to be gone otherwise', () => {
    const files = createNamedFiles()
    const segments = Array.from({ length: FILES }, (_none, number) => new SegmentFile(files, `${number}.seg.tmp`))
    for (const [number, segment] of segments.entries()) segment.shareDescriptor(`${number}.seg`)
    const [kept, gone] = segments as [SegmentFile, SegmentFile]
    kept.keepDescriptor()
    files.remove('0.seg')
    files.remove('1.seg')
    for (const segment of segments.slice(2)) segment.read(1, 0)
    expect(kept.read(1, 0).toString()).to.equal('0.seg')
    expect(() => gone.read(1, 0)).to.throw(SnapshotGone, '1.seg')
    for (const segment of segments) segment.close()
    expect(files.openCount).to.equal(0)
  })
})
