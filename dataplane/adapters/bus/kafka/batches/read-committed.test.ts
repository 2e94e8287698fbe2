import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { RecordBatch } from './read-batch.ts'
import { type AbortedTransaction, committedBatches } from './read-committed.ts'

const TRANSACTIONAL = 0x10
const CONTROL = 0x30

function batch(producerId: number, offset: number, attributes: number, key?: Buffer): RecordBatch {
  // A record: length, attributes, time, offset, key, no value, no headers.
  const record = key === undefined ? [] : [(6 + key.length) << 1, 0, 0, 0, key.length << 1, ...key, 1, 0]
  return {
    firstOffset: offset,
    lastOffset: offset,
    attributes,
    firstTimestampMs: 0,
    maxTimestampMs: 0,
    producerId: BigInt(producerId),
    recordCount: key === undefined ? 0 : 1,
    body: Buffer.from(record),
  }
}

const data = (producer: number, offset: number) => batch(producer, offset, TRANSACTIONAL)
const plain = (offset: number) => batch(-1, offset, 0)
const marker = (producer: number, offset: number, type: 0 | 1) => batch(producer, offset, CONTROL, Buffer.from([0, 0, 0, type]))
const commit = (producer: number, offset: number) => marker(producer, offset, 1)
const abort = (producer: number, offset: number) => marker(producer, offset, 0)
const aborted = (producer: number, firstOffset: number): AbortedTransaction => ({
  producerId: BigInt(producer),
  firstOffset,
})

const CASES: readonly {
  readonly name: string
  readonly batches: readonly RecordBatch[]
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
    it(name, () => expect(committedBatches(batches, list).map(({ firstOffset }) => firstOffset)).to.deep.equal(offsets))
})
