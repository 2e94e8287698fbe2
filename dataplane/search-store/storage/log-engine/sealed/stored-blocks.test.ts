import { expect } from 'chai'
import { describe, it } from 'mocha'
import { mappingConfigOf } from '../../../mapping/mapping-config.ts'
import { openLogIndex } from '../log-index.ts'
import { countReads } from '../testing/counted-reads.ts'
import { withDirectory } from '../testing/temporary-index.ts'
import { createByteCache } from './byte-cache.ts'

const SEGMENTS = 60

describe('blocks of sealed segments', () => {
  it('stay at hand for a few segments alone: a query over all of them leaves no block of each behind', () =>
    withDirectory(async dir => {
      const { files, count: reads } = countReads()
      const deps = { clock: { nowMs: () => 0 }, cache: createByteCache(0), newUuid: () => 'uuid', files }
      const index = await openLogIndex({ dir, name: 'logs', mapping: mappingConfigOf({}, 100) }, deps)
      for (let segment = 0; segment < SEGMENTS; segment++) {
        const document = (k: number) => ({
          action: 'create' as const,
          id: `${segment}-${k}`,
          source: Buffer.from(`{"n":"${segment}-${k}"}`),
        })
        await index.apply([document(0), document(1)])
        await index.seal()
      }
      const segments = index.segments()
      expect(segments).to.have.lengthOf(SEGMENTS)
      const readsOf = (segment: number, doc: number): number => {
        const before = reads()
        expect(Buffer.from(segments[segment]!.source(doc)).toString()).to.equal(`{"n":"${segment}-${doc}"}`)
        return reads() - before
      }
      for (let segment = 0; segment < SEGMENTS; segment++) expect(readsOf(segment, 0)).to.be.above(0)
      expect(readsOf(SEGMENTS - 1, 1), 'the neighbour of the document that was read last').to.equal(0)
      expect(readsOf(SEGMENTS - 5, 1), 'a segment that was read a moment ago').to.equal(0)
      for (let segment = 0; segment < SEGMENTS / 3; segment++) expect(readsOf(segment, 1), `segment ${segment}`).to.be.above(0)
      await index.close()
    }))
})
