import { expect } from 'chai'
import { describe, it } from 'mocha'
import { systemClock } from '../../../clock/system-clock.ts'
import { type PackedRecords, type PartitionQueue, PartitionQueues } from './partition-queues.ts'

const LIMITS = { maxRecords: 3, maxBytes: 1 << 20, waitMs: 0 }
const BATCH_BYTES = 100_000

describe('the memory of unpacked batches', () => {
  /** A queue with batches of two records each, the values of which lie in the batch's memory. */
  const make = (batches: number) => {
    const queues = new PartitionQueues(systemClock, 1 << 30)
    const queue = queues.add({ topic: 'logs', partition: 0, offset: 0 })
    const memory = Array.from({ length: batches }, () => Buffer.allocUnsafeSlow(BATCH_BYTES))
    for (const [i, bytes] of memory.entries()) {
      const records = [0, 1].map(n => {
        const value = bytes.subarray(n * 100, n * 100 + 100)
        return { topic: 'logs', partition: 0, offset: 2 * i + n, timestampMs: 0, key: '', value, headers: {} }
      })
      queues.push(queue, [{ bytes: 1, unpack: () => ({ records, memory: { lastOffset: 2 * i + 1, bytes } }) }], 2 * i + 2)
    }
    return { queues, queue, sizes: () => memory.map(({ length }) => length) }
  }

  /** One record in memory of its own. */
  const handOutAgain = async (queues: PartitionQueues, queue: PartitionQueue) => {
    const bytes = Buffer.allocUnsafeSlow(BATCH_BYTES)
    const record = { topic: 'logs', partition: 0, offset: 0, timestampMs: 0, key: '', value: bytes.subarray(0, 100), headers: {} }
    queues.push(queue, [{ bytes: 1, unpack: () => ({ records: [record], memory: { lastOffset: 0, bytes } }) }], 1)
    const [polled] = await queues.poll(LIMITS)
    return { bytes, value: polled!.value }
  }

  it('is given back once all of a batch is committed, and not before', async () => {
    const { queues, queue, sizes } = make(3)
    const polled = await queues.poll(LIMITS)
    queue.noteCommitted(1)
    expect(sizes()).to.deep.equal([BATCH_BYTES, BATCH_BYTES, BATCH_BYTES])
    queue.noteCommitted(3)
    expect(sizes()).to.deep.equal([0, BATCH_BYTES, BATCH_BYTES])
    expect(polled.map(({ value }) => value.length)).to.deep.equal([0, 0, 100])
  })

  it('of a batch in portions is given back once its last record is committed', async () => {
    const queues = new PartitionQueues(systemClock, 1 << 30)
    const queue = queues.add({ topic: 'logs', partition: 0, offset: 0 })
    const bytes = Buffer.allocUnsafeSlow(BATCH_BYTES)
    const portion = (offset: number): PackedRecords => {
      const record = { topic: 'logs', partition: 0, offset, timestampMs: 0, key: '', value: bytes.subarray(0, 100), headers: {} }
      const unpack = () => ({
        ...{ records: [record], memory: { lastOffset: 2, bytes } },
        ...(offset < 2 && { rest: portion(offset + 1) }),
      })
      return { bytes: 1, unpack }
    }
    queues.push(queue, [portion(0)], 3)
    expect(await queues.poll(LIMITS)).to.have.length(3)
    queue.noteCommitted(2)
    expect(bytes.length).to.equal(BATCH_BYTES)
    queue.noteCommitted(3)
    expect(bytes.length).to.equal(0)
  })

  it('is kept for records that were not handed out yet, whatever is committed', async () => {
    const { queues, queue, sizes } = make(2)
    await queues.poll(LIMITS)
    queue.noteCommitted(100)
    expect(sizes()).to.deep.equal([0, BATCH_BYTES])
  })

  it('is left alone once the position was moved: what was handed out before may be in use', async () => {
    const { queues, queue, sizes } = make(2)
    await queues.poll(LIMITS)
    queue.seek(0)
    queue.noteCommitted(4)
    expect(sizes()).to.deep.equal([BATCH_BYTES, BATCH_BYTES])
  })

  it('is left alone when the partition comes back while records of before are in use: the commit may be for those', async () => {
    const { queues } = make(1)
    await queues.poll(LIMITS)
    queues.remove({ topic: 'logs', partition: 0 })
    const again = queues.add({ topic: 'logs', partition: 0, offset: 0 })
    const { value } = await handOutAgain(queues, again)
    again.noteCommitted(1)
    expect(value.length).to.equal(100)
  })

  it('is given back when the partition comes back and nothing of before is in use', async () => {
    const { queues, queue } = make(1)
    await queues.poll(LIMITS)
    queue.noteCommitted(2)
    queues.remove({ topic: 'logs', partition: 0 })
    const again = queues.add({ topic: 'logs', partition: 0, offset: 0 })
    const { value } = await handOutAgain(queues, again)
    again.noteCommitted(1)
    expect(value.length).to.equal(0)
  })

  it('is left alone after the position was moved over records in use, also when they were handed out again', async () => {
    const { queues, queue } = make(1)
    await queues.poll(LIMITS)
    queue.seek(0)
    const { bytes } = await handOutAgain(queues, queue)
    queue.noteCommitted(2)
    expect(bytes.length).to.equal(BATCH_BYTES)
  })

  it('of a reader that commits nothing is left to the garbage collector from 64 MB on', async () => {
    const { queues, queue, sizes } = make(700)
    await queues.poll({ ...LIMITS, maxRecords: 10_000 })
    queue.noteCommitted(1_400)
    expect(sizes().filter(size => size > 0)).to.have.length(700 - Math.floor((64 << 20) / BATCH_BYTES))
  })
})
