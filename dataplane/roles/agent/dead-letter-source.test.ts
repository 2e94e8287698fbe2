import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Bus, ConsumedRecord } from '../../ports/bus.ts'
import { createDeadLetterReader } from './dead-letter-source.ts'

const TOPIC = 'dead-letter-queue'

describe('what lies in the dead-letter queue', () => {
  it('letters and the time of the oldest, which is read again only when it is another one', async () => {
    let startOffset = 5
    let opened = 0
    const letter = (offset: number): ConsumedRecord => ({
      topic: TOPIC,
      partition: 0,
      offset,
      timestampMs: 0,
      key: 'a/b',
      value: Buffer.from('x'),
      headers: { 'dlq.topic': 'raw-logs', 'dlq.stage': 'etl', 'dlq.time': `2026-11-21T00:00:0${offset}.000Z` },
    })
    const bus = {
      describe: async () => ({ brokers: 1, partitions: [{ topic: TOPIC, partition: 0, startOffset, endOffset: 8 }] }),
      async subscribe() {
        opened++
        return { poll: async () => [letter(startOffset)], assignment: () => [{ topic: TOPIC, partition: 0 }], close: async () => undefined }
      },
    } as unknown as Bus
    const read = createDeadLetterReader(async () => bus, TOPIC)
    expect(await read()).to.deep.equal({ letters: 3, oldest: '2026-11-21T00:00:05.000Z' })
    await read()
    expect(opened).to.equal(1)
    startOffset = 7
    expect(await read()).to.deep.equal({ letters: 1, oldest: '2026-11-21T00:00:07.000Z' })
    startOffset = 8
    expect(await read()).to.deep.equal({ letters: 0, oldest: null })
    expect(opened).to.equal(2)
  })
})
