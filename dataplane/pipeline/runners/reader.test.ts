import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { ConsumedRecord, Subscription, SubscriptionConfig, TopicPartitionOffset } from '../../ports/bus.ts'
import { openReader } from './reader.ts'
import type { Work } from './work.ts'

const LIMITS = { maxRecords: 10, maxBytes: 1000, waitMs: 1 }

function record(partition: number, offset: number): ConsumedRecord {
  return { topic: 't', partition, offset, timestampMs: 0, key: '', value: new Uint8Array(), headers: {} }
}

/** A bus with one subscription whose every poll finds `records`. */
function busWith(records: readonly ConsumedRecord[], committed: readonly TopicPartitionOffset[], endOffset = 1_000) {
  const sought: TopicPartitionOffset[] = []
  let config: SubscriptionConfig | undefined
  let duringPoll = () => {}
  const subscription: Subscription = {
    async poll() {
      duringPoll()
      return records
    },
    async commit() {},
    async seek(offsets) {
      sought.push(...offsets)
    },
    assignment: () => [0, 1, 2].map(partition => ({ topic: 't', partition })),
    async close() {},
  }
  return {
    sought,
    assign: () => config!.onAssigned!([{ topic: 't', partition: 0 }]),
    revoke: () => config!.onRevoked!([{ topic: 't', partition: 0 }]),
    whilePolling(then: () => void) {
      duringPoll = then
    },
    bus: {
      async subscribe(given: SubscriptionConfig) {
        config = given
        return subscription
      },
      committedOffsets: async () => committed,
      describe: async () => ({
        brokers: 1,
        partitions: [0, 1, 2].map(partition => ({ topic: 't', partition, startOffset: 0, endOffset })),
      }),
    },
  }
}

const COMMITTED = [
  { topic: 't', partition: 0, offset: 500 },
  { topic: 't', partition: 1, offset: 20 },
  { topic: 'other', partition: 0, offset: 7 },
]

const workWith = (records?: number): Work => ({
  subscription: { groupId: 'g', topics: ['t'] },
  limits: LIMITS,
  ...(records === undefined ? {} : { memory: { records, reset() {}, restore: async () => {} } }),
  handle: async () => undefined,
})

describe('reading with a memory to restore', () => {
  it('begins some records before the committed offset of each partition, and knows repeated records from fresh ones', async () => {
    const { bus, sought, assign } = busWith([record(0, 499), record(0, 500), record(1, 19), record(2, 0)], COMMITTED)
    const reader = await openReader(bus, workWith(100))
    assign()
    expect(await reader.poll(LIMITS)).to.deep.equal({ kind: 'moved' })
    await reader.rewind()
    expect(sought).to.deep.equal([
      { topic: 't', partition: 0, offset: 400 },
      { topic: 't', partition: 1, offset: 0 },
      { topic: 't', partition: 2, offset: 0 },
    ])
    expect(await reader.poll(LIMITS)).to.deep.equal({
      kind: 'records',
      repeated: [record(0, 499), record(1, 19)],
      fresh: [record(0, 500), record(2, 0)],
    })
  })

  it('goes back by fewer messages where each holds many records, as the last ones of the partition tell', async () => {
    const { bus, sought, assign } = busWith([record(0, 498), record(0, 499), record(0, 500), record(1, 19)], COMMITTED)
    const memory = {
      records: 100,
      weigh: ({ partition }: ConsumedRecord) => (partition === 0 ? 20 : 0),
      reset() {},
      restore: async () => {},
    }
    const reader = await openReader(bus, { ...workWith(), memory })
    assign()
    await reader.rewind()
    expect(sought.slice(0, 3).map(({ offset }) => offset)).to.deep.equal([492, 12, 0])
    expect(sought.slice(3)).to.deep.equal([
      { topic: 't', partition: 0, offset: 495 },
      { topic: 't', partition: 1, offset: 0 },
      { topic: 't', partition: 2, offset: 0 },
    ])
  })

  it('looks for the last messages of a partition for so long: a backlog that has none of them is not read through', async () => {
    const { bus, sought, assign } = busWith([record(0, 499), record(0, 600)], COMMITTED)
    const reader = await openReader(bus, { ...workWith(), memory: { records: 100, weigh: () => 50, reset() {}, restore: async () => {} } })
    assign()
    await reader.rewind()
    expect(sought.slice(3).map(({ offset }) => offset)).to.deep.equal([498, 0, 0])
  })

  it('hands out nothing that was read while partitions came or went', async () => {
    const { bus, revoke, whilePolling } = busWith([record(0, 500)], COMMITTED)
    const reader = await openReader(bus, workWith(100))
    whilePolling(revoke)
    expect(await reader.poll(LIMITS)).to.deep.equal({ kind: 'moved' })
    expect(reader.hasMoved()).to.equal(true)
    whilePolling(() => {})
    await reader.rewind()
    expect(await reader.poll(LIMITS)).to.deep.equal({ kind: 'records', repeated: [], fresh: [record(0, 500)] })
  })

  it('takes the records of a partition that holds fewer than were committed for fresh: they are of another log', async () => {
    const { bus, sought, assign } = busWith([record(0, 50), record(1, 19)], COMMITTED, 100)
    const reader = await openReader(bus, workWith(10))
    assign()
    await reader.rewind()
    expect(sought.map(({ offset }) => offset)).to.deep.equal([0, 10, 0])
    expect(await reader.poll(LIMITS)).to.deep.equal({ kind: 'records', repeated: [record(1, 19)], fresh: [record(0, 50)] })
  })

  it('without a memory takes records as they come', async () => {
    const { bus, assign, sought } = busWith([record(0, 3)], COMMITTED)
    const reader = await openReader(bus, workWith())
    assign()
    expect(await reader.poll(LIMITS)).to.deep.equal({ kind: 'records', repeated: [], fresh: [record(0, 3)] })
    expect(sought).to.deep.equal([])
  })
})
