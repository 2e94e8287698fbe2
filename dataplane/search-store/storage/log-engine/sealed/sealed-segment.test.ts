import { basename } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Segment } from '../../index-storage.ts'
import { nodeFiles } from '../format/index-files.ts'
import { SegmentFile } from '../format/segment-file.ts'
import { openLogIndex } from '../log-index.ts'
import { countReads } from '../testing/counted-reads.ts'
import { LOG_MAPPING } from '../testing/log-mapping.ts'
import { withDirectory } from '../testing/temporary-index.ts'
import { type ByteCache, createByteCache } from './byte-cache.ts'

describe('a sealed segment', () => {
  it('keeps its counts by minute in the cache alone: thousands of segments would keep them for good', () =>
    withDirectory(async dir => {
      const { files, count: reads } = countReads()
      const readsOf = async (cacheBytes: number): Promise<number> => {
        const deps = { clock: { nowMs: () => 0 }, cache: createByteCache(cacheBytes), newUuid: () => 'uuid', files }
        const index = await openLogIndex({ dir, name: 'service-logs-2026.11.21', mapping: LOG_MAPPING }, deps)
        const source = Buffer.from('{"timestamp":"2026-11-21T10:00:00Z","tenant_id":"default","service":"shop","level":"INFO"}')
        await index.apply([{ action: 'index', id: 'one', source }])
        await index.seal()
        const segment = index.segments().at(-1)!
        const count = () => segment.counts()?.map(each => each.count)
        expect(count()).to.deep.equal([1])
        const before = reads()
        expect(count()).to.deep.equal([1])
        await index.close()
        return reads() - before
      }
      expect(await readsOf(4 << 20)).to.equal(0)
      expect(await readsOf(0)).to.be.above(0)
    }))

  it('is opened beside the cache: an index of thousands of segments would flush the cache at its start', () =>
    withDirectory(async dir => {
      const config = { dir, name: 'service-logs-2026.11.21', mapping: LOG_MAPPING }
      const depsWith = (cache: ByteCache) => ({ clock: { nowMs: () => 0 }, cache, newUuid: () => 'uuid' })
      const written = await openLogIndex(config, depsWith(createByteCache(4 << 20)))
      for (let segment = 0; segment < 3; segment++) {
        await written.apply([{ action: 'index', id: `${segment}`, source: Buffer.from('{"service":"shop"}') }])
        await written.seal()
      }
      await written.close()
      const cache = createByteCache(4 << 20)
      const opened = await openLogIndex(config, depsWith(cache))
      expect([opened.docCount, opened.segments().length]).to.deep.equal([3, 3])
      expect(cache.sizeBytes).to.equal(0)
      await opened.close()
    }))

  it('is read although its file was closed for others: sealed, written anew for its poor blocks, merged, opened, and while it is merged away', () =>
    withDirectory(async dir => {
      const config = { dir, name: 'service-logs-2026.11.21', mapping: LOG_MAPPING }
      const reopened: string[] = []
      const files: typeof nodeFiles = {
        ...nodeFiles,
        reopen(path) {
          reopened.push(basename(path))
          return nodeFiles.reopen(path)
        },
      }
      // Nothing of blocks or directories stays in memory.
      const open = () => openLogIndex(config, { clock: { nowMs: () => 0 }, cache: createByteCache(0), newUuid: () => 'uuid', files })
      const source = (id: string) => Buffer.from(`{"service":"shop","message":"said ${id}"}`)
      const idsOf = (segments: readonly Segment[]) =>
        segments.flatMap(segment =>
          Array.from({ length: segment.size }, (_none, doc) => {
            expect(Buffer.from(segment.source(doc)).toString()).to.equal(source(segment.id(doc)).toString())
            return segment.id(doc)
          }),
        )
      let index = await open()
      const written: string[] = []
      for (let segment = 0; segment < 8; segment++) {
        for (let k = 0; k < 5; k++) {
          written.push(`${segment}-${k}`)
          await index.apply([{ action: 'create', id: written.at(-1)!, source: source(written.at(-1)!) }])
        }
        await index.seal()
      }
      closeAllOthers()
      expect(idsOf(index.segments())).to.deep.equal(written)
      expect(new Set(reopened).size).to.equal(8)
      const before = index.segments()
      closeAllOthers()
      await index.maintain()
      expect(index.segments()).to.have.lengthOf(1)
      closeAllOthers()
      expect(idsOf(before), 'a query that began before the merge').to.deep.equal(written)
      expect(idsOf(index.segments())).to.deep.equal(written)
      await index.close()
      index = await open()
      closeAllOthers()
      expect(idsOf(index.segments())).to.deep.equal(written)
      await index.close()
    }))
})

/** Opens so many other files that those of segments that may be closed are closed. */
function closeAllOthers(): void {
  const others = { ...nodeFiles, open: () => 0, reopen: () => 0, close: () => undefined }
  for (let k = 0; k < 2 * 2_048; k++) new SegmentFile(others, 'other').shareDescriptor('other')
}
