import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../testing/rounds.ts'
import { type IndexCopy, type IndexSnapshot, SnapshotGone } from '../index-copy.ts'
import type { IndexFeed } from '../index-feed.ts'
import type { IndexStorage, ReadableIndex, WriteOp } from '../index-storage.ts'
import { createLogCopy } from './log-copy.ts'
import { createByteCache } from './sealed/byte-cache.ts'
import { operation } from './testing/arbitrary-documents.ts'
import { expectSame } from './testing/compare.ts'
import { LOG_MAPPING } from './testing/log-mapping.ts'
import { createOracle, type Oracle } from './testing/oracle.ts'
import { openIndex, withDirectory } from './testing/temporary-index.ts'

const step: fc.Arbitrary<
  { readonly write: readonly WriteOp[] } | { readonly next: 'seal' | 'merge' | 'look' | 'look later' | 'forget' | 'begin anew' }
> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ write: fc.array(operation, { minLength: 1, maxLength: 12 }) }) },
  { weight: 3, arbitrary: fc.record({ next: fc.constantFrom('seal' as const, 'merge' as const, 'look' as const, 'look' as const) }) },
  { weight: 1, arbitrary: fc.record({ next: fc.constantFrom('look later' as const, 'forget' as const, 'begin anew' as const) }) },
)

const noPause = async () => undefined

function tell(feed: IndexFeed, copy: IndexCopy): void {
  for (const { head, bytes } of feed.next()) copy.apply({ head: JSON.parse(JSON.stringify(head)), bytes: Buffer.concat(bytes) })
}

/** The readable side of an index, in the shape that the oracle is held against. */
function readable(index: ReadableIndex): IndexStorage {
  const live = index
    .segments()
    .flatMap(segment => [...Array(segment.size).keys()].filter(doc => segment.isLive(doc)).map(doc => ({ segment, doc })))
  const documents = live.map(({ segment, doc }) => ({
    id: segment.id(doc),
    seqNo: segment.seqNo(doc),
    version: segment.version(doc),
    source: segment.source(doc),
  }))
  return {
    ...index,
    docCount: live.length,
    get: (id: string) => documents.find(each => each.id === id),
  } as unknown as IndexStorage
}

async function expectCopy(snapshot: IndexSnapshot, oracle: Oracle): Promise<void> {
  expectSame(readable(await snapshot.open(noPause)), oracle)
}

const LATER: readonly WriteOp[] = [
  { action: 'index', id: 'later', source: Buffer.from('{"service":"later","level":"INFO"}') },
  { action: 'delete', id: 'plain' },
]

/** Undefined: its files are no longer there. */
async function idsOf(snapshot: IndexSnapshot): Promise<string | undefined> {
  try {
    const index = readable(await snapshot.open(noPause))
    return index
      .segments()
      .flatMap(segment => [...Array(segment.size).keys()].filter(doc => segment.isLive(doc)).map(doc => segment.id(doc)))
      .sort()
      .join()
  } catch (error) {
    if (error instanceof SnapshotGone) return undefined
    throw error
  }
}

describe('a copy of a log index', () => {
  it('sees what is committed when it is told, whatever is written, sealed and merged', () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), steps =>
        withDirectory(async dir => {
          const oracle = createOracle(LOG_MAPPING)
          const index = await openIndex(dir, LOG_MAPPING)
          const feed = index.feed()
          let copy = createLogCopy(createByteCache(4 << 20))
          for (const each of steps) {
            if ('write' in each) {
              await index.apply(each.write)
              for (const op of each.write) oracle.apply(op)
            } else if (each.next === 'seal') await index.seal()
            else if (each.next === 'merge') await index.maintain()
            else if (each.next === 'forget') feed.reset()
            else if (each.next === 'begin anew') {
              copy = createLogCopy(createByteCache(4 << 20))
              feed.reset()
            } else {
              tell(feed, copy)
              const snapshot = copy.snapshot()
              if (each.next === 'look') await expectCopy(snapshot, oracle)
              else {
                const then = [...oracle.documents.values()].map(({ id }) => id)
                for (const op of LATER) oracle.apply(op)
                await index.apply(LATER)
                await index.seal()
                expect(await idsOf(snapshot)).to.be.oneOf([undefined, then.sort().join()])
              }
            }
          }
          tell(feed, copy)
          await expectCopy(copy.snapshot(), oracle)
          expect(feed.next()).to.deep.equal([])
          await index.close()
        }),
      ),
      { numRuns: rounds(100), seed: 11 },
    )).timeout(60_000)

  it('is read by the query that has a turn: a query that gets none holds up no other', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const source = Buffer.from(JSON.stringify({ service: 'shop', message: 'word '.repeat(200) }))
      for (let batch = 0; batch < 3; batch++)
        await index.apply(Array.from({ length: 200 }, (_none, k): WriteOp => ({ action: 'index', id: `${batch}-${k}`, source })))
      const copy = createLogCopy(createByteCache(4 << 20))
      tell(index.feed(), copy)
      let asked = 0
      void copy.snapshot().open(() => (++asked === 3 ? new Promise<never>(() => undefined) : noPause()))
      await new Promise(setImmediate)
      expect(asked).to.equal(3)
      expect(readable(await copy.snapshot().open(noPause)).docCount).to.equal(600)
      await index.close()
    }))

  it('is told of a commit in a few bytes, and opens what is new, however many segments there are', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const write = (id: string) => index.apply([{ action: 'index', id, source: Buffer.from('{"service":"shop"}') }])
      const feed = index.feed()
      const copy = createLogCopy(createByteCache(4 << 20))
      const tellAll = (): number => {
        const messages = [...feed.next()]
        for (const { head, bytes } of messages) copy.apply({ head: JSON.parse(JSON.stringify(head)), bytes: Buffer.concat(bytes) })
        return messages.reduce((sum, { head, bytes }) => sum + JSON.stringify(head).length + Buffer.concat(bytes).length, 0)
      }
      const opened = async (): Promise<readonly [steps: number, documents: number]> => {
        let steps = 0
        const { docCount } = readable(
          await copy.snapshot().open(async () => {
            steps++
          }),
        )
        return [steps, docCount]
      }
      const segments = 40
      for (let segment = 0; segment < segments; segment++) {
        await write(`${segment}`)
        await index.seal()
      }
      await write('first of the tail')
      tellAll()
      const [allSteps, all] = await opened()
      expect(all).to.equal(segments + 1)
      expect(allSteps).to.be.at.least(segments)
      await write('second of the tail')
      expect(tellAll(), 'bytes of the message').to.be.below(300 + dir.length)
      const [steps, documents] = await opened()
      expect(documents).to.equal(segments + 2)
      expect(steps, 'steps of the next query').to.be.below(segments / 4)
      // A deletion in a sealed segment is seen.
      await index.apply([{ action: 'delete', id: '3' }])
      tellAll()
      expect((await opened())[1]).to.equal(segments + 1)
      await index.close()
    }))
})
