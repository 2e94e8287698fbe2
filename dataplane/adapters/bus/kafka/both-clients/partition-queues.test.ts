import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { ConsumedRecord } from '../../../../ports/bus.ts'
import { systemClock } from '../../../clock/system-clock.ts'
import { type PackedRecords, PartitionQueues, unpacked } from './partition-queues.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const TOPIC = 'logs'
const LIMITS = { maxRecords: 100, maxBytes: 1 << 20, waitMs: 0 }

function records(partition: number, from: number, count: number, bytes = 10): ConsumedRecord[] {
  return Array.from({ length: count }, (_, i) => ({
    topic: TOPIC,
    partition,
    offset: from + i,
    timestampMs: 0,
    key: '',
    value: Buffer.alloc(bytes),
    headers: {},
  }))
}

const placesOf = (polled: readonly ConsumedRecord[]) => polled.map(({ partition, offset }) => `${partition}/${offset}`)

describe('queues of records that were read ahead', () => {
  const make = (partitions: number, maxBytes = 1 << 20) => {
    const queues = new PartitionQueues(systemClock, maxBytes)
    const all = Array.from({ length: partitions }, (_, partition) => queues.add({ topic: TOPIC, partition, offset: 0 }))
    return { queues, all }
  }

  it('hand records out in order per partition, each partition first in its turn', async () => {
    const { queues, all } = make(2)
    for (const [partition, queue] of all.entries()) queues.push(queue, unpacked(records(partition, 0, 3)), 3)
    const two = { ...LIMITS, maxRecords: 2 }
    expect(placesOf(await queues.poll(two))).to.deep.equal(['0/0', '0/1'])
    expect(placesOf(await queues.poll(two))).to.deep.equal(['1/0', '1/1'])
    expect(placesOf(await queues.poll(LIMITS))).to.deep.equal(['0/2', '1/2'])
  })

  it('are hungry below half of their share of the limit', () => {
    const { queues, all } = make(2, 4_000)
    expect(queues.isHungry(all[0]!)).to.equal(true)
    queues.push(all[0]!, unpacked(records(0, 0, 1, 1_000)), 1)
    expect([queues.isHungry(all[0]!), queues.isHungry(all[1]!)]).to.deep.equal([false, true])
  })

  it('are not hungry, whatever their shares, while all of them together hold the limit: one answer may bring many times a share', () => {
    const { queues, all } = make(24, 8_000)
    for (const [partition, queue] of all.slice(0, 2).entries()) queues.push(queue, unpacked(records(partition, 0, 1, 50_000)), 1)
    expect(all.filter(queue => queues.isHungry(queue))).to.deep.equal([])
  })

  it('are hungry beside one that is held, however much that holds', () => {
    const { queues, all } = make(2, 8_000)
    queues.push(all[0]!, unpacked(records(0, 0, 1, 50_000)), 1)
    all[0]!.isHeld = true
    expect(queues.isHungry(all[1]!)).to.equal(true)
  })

  it('unpack no further batch while those that were begun hold the limit', async () => {
    const { queues, all } = make(24, 8_000)
    for (const [partition, queue] of all.entries()) {
      const packed = (from: number, count: number) => ({ bytes: 50, unpack: () => ({ records: records(partition, from, count, 1_000) }) })
      queues.push(queue, [packed(0, 4), packed(4, 100)], 104)
    }
    const three = { ...LIMITS, maxRecords: 3 }
    const most: number[] = []
    const places: string[] = []
    for (let polled = await queues.poll(three); polled.length > 0; polled = await queues.poll(three)) {
      places.push(...placesOf(polled))
      most.push(all.reduce((sum, { bytes }) => sum + bytes, 0))
    }
    for (const partition of all.keys())
      expect(places.filter(place => place.startsWith(`${partition}/`))).to.deep.equal(
        Array.from({ length: 104 }, (_, at) => `${partition}/${at}`),
      )
    expect(Math.max(...most)).to.be.below(8_000 + 100 * 1_100 + 48 * 50)
  })

  it('forget everything when they are moved, and what was asked for before', async () => {
    const { queues, all } = make(1)
    const queue = all[0]!
    queues.push(queue, unpacked(records(0, 0, 5)), 5)
    const { epoch } = queue
    queue.seek(2)
    expect(queues.isCurrent(queue, epoch)).to.equal(false)
    expect(await queues.poll(LIMITS)).to.deep.equal([])
    expect(queue.bytes).to.equal(0)
    queues.push(queue, unpacked(records(0, 2, 2)), 4)
    expect(placesOf(await queues.poll(LIMITS))).to.deep.equal(['0/2', '0/3'])
  })

  it('hold back a partition on its way to another member, which has settled once all that was handed out is committed', async () => {
    const { queues, all } = make(1)
    const queue = all[0]!
    queues.push(queue, unpacked(records(0, 0, 5)), 5)
    await queues.poll({ ...LIMITS, maxRecords: 2 })
    queue.isHeld = true
    expect(await queues.poll(LIMITS)).to.deep.equal([])
    expect(queue.isSettled()).to.equal(false)
    queue.noteCommitted(2)
    expect(queue.isSettled()).to.equal(true)
  })

  it('wake a poll that waits when records come, and when they are closed', async () => {
    const { queues, all } = make(1)
    const waiting = queues.poll({ ...LIMITS, waitMs: 10_000 })
    queues.push(all[0]!, unpacked(records(0, 0, 1)), 1)
    expect(placesOf(await waiting)).to.deep.equal(['0/0'])
    const ending = queues.poll({ ...LIMITS, waitMs: 10_000 })
    queues.close()
    expect(await ending).to.deep.equal([])
  })

  it('unpack what was read ahead when it is its turn, and not before', async () => {
    const { queues, all } = make(1)
    const queue = all[0]!
    const opened: number[] = []
    const packed = (from: number) => ({
      bytes: 50,
      unpack() {
        opened.push(from)
        return { records: records(0, from, 2, 1_000) }
      },
    })
    queues.push(queue, [packed(0), packed(2)], 4)
    expect([opened, queue.bytes]).to.deep.equal([[], 100])
    await queues.poll({ ...LIMITS, maxRecords: 1 })
    expect([opened, queue.bytes]).to.deep.equal([[0], 50 + 1_100])
    expect(placesOf(await queues.poll(LIMITS))).to.deep.equal(['0/1', '0/2', '0/3'])
    expect([opened, queue.bytes]).to.deep.equal([[0, 2], 0])
  })

  it('count keys and headers: one batch at a time is unpacked whose records hold little else', async () => {
    const { queues, all } = make(3, 8_000)
    let unpacked = 0
    const packed = (partition: number, offset: number) => ({
      bytes: 50,
      unpack() {
        unpacked++
        return { records: records(partition, offset, 1, 0), plainBytes: 60_000_000, parts: 2 }
      },
    })
    for (const [partition, queue] of all.entries()) queues.push(queue, [packed(partition, 0), packed(partition, 1)], 2)
    const counts: (readonly [polled: number, unpacked: number])[] = []
    for (let i = 0; i < 7; i++) counts.push([(await queues.poll(LIMITS)).length, unpacked])
    expect(counts).to.deep.equal([[1, 2], [1, 3], [1, 4], [1, 5], [1, 6], [1, 6], [0, 6]]) // biome-ignore format: a row
    expect(all.map(({ bytes, unpackedBytes }) => [bytes, unpackedBytes])).to.deep.equal([[0, 0], [0, 0], [0, 0]]) // biome-ignore format: a row
  })

  it('hold one portion of a large batch at a time, and count what is not unpacked of it until then', async () => {
    const { queues, all } = make(1)
    const queue = all[0]!
    const portion = (from: number): PackedRecords => ({
      bytes: (6 - from) * 1_000,
      unpack: () => ({ records: records(0, from, 2, 1_000), plainBytes: 2_000, parts: 2, ...(from < 4 && { rest: portion(from + 2) }) }),
    })
    queues.push(queue, [{ ...portion(0), bytes: 50 }, ...unpacked(records(0, 6, 1))], 7)
    const behind = queue.bytes - 50
    const held: (readonly [places: readonly string[], bytes: number, unpackedBytes: number])[] = []
    for (let i = 0; i < 6; i++) {
      const places = placesOf(await queues.poll({ ...LIMITS, maxRecords: 1 }))
      held.push([places, queue.bytes - behind, queue.unpackedBytes])
    }
    // A record unpacked is 1,100 bytes; one that is not, 1,000. The next portion is unpacked when the last record of one is taken.
    const left = [5_100, 4_200, 3_100, 2_200, 1_100]
    expect(held.slice(0, 5)).to.deep.equal(left.map((bytes, at) => [[`0/${at}`], bytes, bytes]))
    expect(held[5]!.slice(0, 2)).to.deep.equal([['0/5'], 0])
    expect(placesOf(await queues.poll(LIMITS))).to.deep.equal(['0/6'])
    expect([queue.bytes, queue.unpackedBytes]).to.deep.equal([0, 0])
  })

  it('forget the rest of a batch when they are moved', async () => {
    const { queues, all } = make(1)
    const queue = all[0]!
    const rest = { bytes: 1_000, unpack: () => ({ records: records(0, 1, 1) }) }
    queues.push(queue, [{ bytes: 50, unpack: () => ({ records: records(0, 0, 1), rest }) }], 2)
    expect(placesOf(await queues.poll({ ...LIMITS, maxRecords: 1 }))).to.deep.equal(['0/0'])
    queue.seek(7)
    queues.push(queue, unpacked(records(0, 7, 1)), 8)
    expect(placesOf(await queues.poll(LIMITS))).to.deep.equal(['0/7'])
    expect([queue.bytes, queue.unpackedBytes]).to.deep.equal([0, 0])
  })

  it('keep nothing of a batch all of whose records were taken: a partition may be silent for long', async () => {
    const { queues, all } = make(1)
    let held: WeakRef<ConsumedRecord> | undefined
    const unpack = () => {
      const made = records(0, 0, 1)
      held = new WeakRef(made[0]!)
      return { records: made }
    }
    queues.push(all[0]!, [{ bytes: 50, unpack }], 1)
    expect(placesOf(await queues.poll(LIMITS))).to.deep.equal(['0/0'])
    await turn()
    collectGarbage()
    expect(held!.deref()).to.equal(undefined)
  })

  it('hand out nothing behind what cannot be unpacked', async () => {
    const { queues, all } = make(1)
    const unpack = () => {
      throw new Error('broken batch')
    }
    queues.push(all[0]!, [...unpacked(records(0, 0, 1)), { bytes: 1, unpack }, ...unpacked(records(0, 2, 1))], 3)
    const problem = async () => queues.poll(LIMITS).catch((error: Error) => error.message)
    expect(await queues.poll(LIMITS)).to.have.length(1)
    expect([await problem(), await problem()]).to.deep.equal(['broken batch', 'broken batch'])
  })
})
