import { expect } from 'chai'
import fc from 'fast-check'
import { rounds } from '../../../testing/rounds.ts'
import { fillStorages } from '../../testing/test-storages.ts'
import type { FeedMessage } from '../index-feed.ts'
import type { IndexStorage, ReadableIndex, WriteOp } from '../index-storage.ts'
import { createTableCopy } from './table-copy.ts'

const id = fc.integer({ min: 0, max: 9 }).map(String)
const operation: fc.Arbitrary<WriteOp> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ action: fc.constant('index' as const), id, source: fc.integer().map(n => Buffer.from(`{"n":${n}}`)) }),
  },
  { weight: 1, arbitrary: fc.record({ action: fc.constant('delete' as const), id }) },
)

const pass = ({ head, bytes }: FeedMessage) => ({ head: JSON.parse(JSON.stringify(head)), bytes: Buffer.concat(bytes) })

function documentsOf(index: ReadableIndex): unknown {
  return index
    .segments()
    .flatMap(segment =>
      [...Array(segment.size).keys()]
        .filter(doc => segment.isLive(doc))
        .map(doc => [segment.id(doc), segment.seqNo(doc), segment.version(doc), Buffer.from(segment.source(doc)).toString()]),
    )
}

async function same(table: IndexStorage, copy: ReturnType<typeof createTableCopy>): Promise<void> {
  const index = await copy.snapshot().open(async () => undefined)
  expect(documentsOf(index)).to.deep.equal(documentsOf(table))
  expect(index.mapping.toJson()).to.deep.equal(table.mapping.toJson())
}

describe('a copy of a table', () => {
  it('holds the same documents in the same order after every message that counts', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(operation, { minLength: 1, maxLength: 8 }), { maxLength: 10 }),
        fc.nat(2_500),
        async (batches, many) => {
          const { table, remove } = await fillStorages([], {})
          try {
            const documents = Array.from(
              { length: many },
              (_, n): WriteOp => ({ action: 'index', id: `many-${n}`, source: Buffer.from('{"m":1}') }),
            )
            if (many > 0) await table.apply(documents)
            const feed = table.feed()
            const copy = createTableCopy()
            for (const batch of batches) {
              for (const message of feed.next()) copy.apply(pass(message))
              await same(table, copy)
              await table.apply(batch)
            }
            for (const message of feed.next()) copy.apply(pass(message))
            await same(table, copy)
            feed.reset()
            for (const message of feed.next()) copy.apply(pass(message))
            await same(table, copy)
            expect([...feed.next()]).to.deep.equal([])
            feed.close()
          } finally {
            await remove()
          }
        },
      ),
      { numRuns: rounds(25), seed: 5 },
    )).timeout(60_000)
})
