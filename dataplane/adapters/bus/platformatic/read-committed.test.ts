import type { RecordsBatch } from '@platformatic/kafka'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type AbortedTransaction, committedBatches, timestampsOf } from './read-committed.ts'

const TRANSACTIONAL = 0x10
const CONTROL = 0x30

const base = { length: 0, partitionLeaderEpoch: 0, magic: 2, crc: 0, lastOffsetDelta: 0, firstTimestamp: 0n, maxTimestamp: 0n } as const

function batch(producerId: number, offset: number, attributes: number, key: Buffer | null = null): RecordsBatch {
  const record = { length: 0, attributes: 0, timestampDelta: 0n, offsetDelta: 0, key, value: null, headers: [] }
  const identity = { firstOffset: BigInt(offset), attributes, producerId: BigInt(producerId), producerEpoch: 0, firstSequence: 0 }
  return { ...base, ...identity, records: [record] } as unknown as RecordsBatch
}

const data = (producer: number, offset: number) => batch(producer, offset, TRANSACTIONAL)
const plain = (offset: number) => batch(-1, offset, 0)
const marker = (producer: number, offset: number, type: 0 | 1) => batch(producer, offset, CONTROL, Buffer.from([0, 0, 0, type]))
const commit = (producer: number, offset: number) => marker(producer, offset, 1)
const abort = (producer: number, offset: number) => marker(producer, offset, 0)
const aborted = (producer: number, firstOffset: number): AbortedTransaction => ({
  producerId: BigInt(producer),
  firstOffset: BigInt(firstOffset),
})

const CASES: readonly {
  readonly name: string
  readonly batches: readonly RecordsBatch[]
  readonly aborted: readonly AbortedTransaction[]
  readonly offsets: readonly number[]
}[] = [
  { name: 'markers are left out', batches: [plain(0), data(1, 1), commit(1, 2), plain(3)], aborted: [], offsets: [0, 1, 3] },
  {
    name: 'two aborted transactions of one producer, and a committed one between them',
    batches: [data(1, 0), abort(1, 1), data(1, 2), commit(1, 3), data(1, 4), abort(1, 5), plain(6)],
    aborted: [aborted(1, 4), aborted(1, 0)],
    offsets: [2, 6],
  },
  { name: 'the marker comes in a later answer', batches: [data(1, 0), plain(1), data(1, 2)], aborted: [aborted(1, 0)], offsets: [1] },
  {
    name: 'the transaction began in an earlier answer',
    batches: [data(1, 10), abort(1, 11), data(1, 12), commit(1, 13)],
    aborted: [aborted(1, 3)],
    offsets: [12],
  },
  {
    name: 'transactions of two producers among each other',
    batches: [data(1, 0), data(2, 1), abort(1, 2), data(2, 3), commit(2, 4)],
    aborted: [aborted(1, 0)],
    offsets: [1, 3],
  },
  { name: 'a marker without records', batches: [abort(1, 0), plain(1)], aborted: [], offsets: [1] },
]

describe('read committed', () => {
  for (const { name, batches, aborted: list, offsets } of CASES)
    it(name, () => expect(committedBatches(batches, list).map(({ firstOffset }) => Number(firstOffset))).to.deep.equal(offsets))
})

describe('when the bus took a record', () => {
  const dated = { ...plain(0), firstTimestamp: 1_000n, maxTimestamp: 5_000n }

  it("by the broker's clock where the topic says so, else by the sender's", () => {
    expect(timestampsOf(dated)(30n)).to.equal(1_030)
    expect(timestampsOf({ ...dated, attributes: 0x08 })(30n)).to.equal(5_000)
  })
})
