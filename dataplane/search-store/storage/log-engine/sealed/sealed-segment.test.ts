import { expect } from 'chai'
import { describe, it } from 'mocha'
import { nodeFiles } from '../format/index-files.ts'
import { openLogIndex } from '../log-index.ts'
import { LOG_MAPPING } from '../testing/log-mapping.ts'
import { withDirectory } from '../testing/temporary-index.ts'
import { type ByteCache, createByteCache } from './byte-cache.ts'

describe('a sealed segment', () => {
  it('keeps its counts by minute in the cache alone: thousands of segments would keep them for good', () =>
    withDirectory(async dir => {
      let reads = 0
      const files: typeof nodeFiles = {
        ...nodeFiles,
        read(fd, length, position) {
          reads++
          return nodeFiles.read(fd, length, position)
        },
      }
      const readsOf = async (cacheBytes: number): Promise<number> => {
        const deps = { clock: { nowMs: () => 0 }, cache: createByteCache(cacheBytes), newUuid: () => 'uuid', files }
        const index = await openLogIndex({ dir, name: 'service-logs-2026.11.21', mapping: LOG_MAPPING }, deps)
        const source = Buffer.from('{"timestamp":"2026-11-21T10:00:00Z","tenant_id":"default","service":"shop","level":"INFO"}')
        await index.apply([{ action: 'index', id: 'one', source }])
        await index.seal()
        const segment = index.segments().at(-1)!
        const count = () => segment.counts()?.map(each => each.count)
        expect(count()).to.deep.equal([1])
        const before = reads
        expect(count()).to.deep.equal([1])
        await index.close()
        return reads - before
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
})
