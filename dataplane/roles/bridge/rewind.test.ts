import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { ConsumedRecord, Subscription, TopicPartitionOffset } from '../../ports/bus.ts'
import { createRewind } from './rewind.ts'

function record(partition: number, offset: number): ConsumedRecord {
  return { topic: 't', partition, offset, timestampMs: 0, key: '', value: new Uint8Array(), headers: {} }
}

describe('rewinding after a restart', () => {
  it('reads the last committed records of each partition again, and knows them from new ones', async () => {
    const sought: TopicPartitionOffset[] = []
    const subscription = {
      seek: async (offsets: readonly TopicPartitionOffset[]) => void sought.push(...offsets),
    } as unknown as Subscription
    const bus = {
      committedOffsets: async () => [
        { topic: 't', partition: 0, offset: 500 },
        { topic: 't', partition: 1, offset: 20 },
        { topic: 'other', partition: 0, offset: 7 },
      ],
    }
    const rewind = createRewind({ bus, groupId: 'g', topic: 't', records: 100 })
    await rewind.start(subscription)
    expect(sought).to.deep.equal([
      { topic: 't', partition: 0, offset: 400 },
      { topic: 't', partition: 1, offset: 0 },
    ])
    expect(rewind.isRepeated(record(0, 499))).to.equal(true)
    expect(rewind.isRepeated(record(0, 500))).to.equal(false)
    expect(rewind.isRepeated(record(2, 0))).to.equal(false)
  })
})
