import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { watchPipelineDelay } from './pipeline-delay.ts'

const turn = () => new Promise(setImmediate)

function watched() {
  const clock = createFakeClock()
  const ends = { raw: 0, enriched: 0 }
  const read = { etl: 0, indexer: 0 }
  let isAway = false
  const partition = (topic: 'raw' | 'enriched') => ({ topic, partition: 0, startOffset: 0, endOffset: ends[topic] })
  const bus = {
    async describe() {
      if (isAway) throw new Error('away')
      return { brokers: 1, partitions: [partition('raw'), partition('enriched')] }
    },
    async committedOffsets(groupId: string) {
      return groupId === 'etl'
        ? [{ topic: 'raw', partition: 0, offset: read.etl }]
        : [
            { topic: 'enriched', partition: 0, offset: read.indexer },
            { topic: 'anomalies', partition: 0, offset: 1_000 },
          ]
    },
  }
  const stages = [
    { topic: 'raw', groupId: 'etl' },
    { topic: 'enriched', groupId: 'indexer' },
  ]
  const delay = watchPipelineDelay({ bus, stages, clock })
  const pass = async (ms: number, act = () => {}) => {
    for (let at = 0; at < ms; at += 200) {
      act()
      clock.advance(200)
      await turn()
    }
  }
  return { delay, ends, read, pass, goAway: () => (isAway = true) }
}

describe('how long records wait in the pipeline', () => {
  it('is nothing while all is read as it comes', async () => {
    const { delay, ends, read, pass } = watched()
    await pass(2_000, () => {
      ends.raw = read.etl += 10
    })
    expect(delay.currentMs()).to.equal(0)
    delay.stop()
  })

  it('is the age of the first record that is not read, over all stages', async () => {
    const { delay, ends, read, pass, goAway } = watched()
    await pass(4_000, () => {
      ends.raw += 10
      read.etl += 5
      ends.enriched += 10
      read.indexer += 5
    })
    expect(delay.currentMs()).to.be.within(3_600, 4_400)
    goAway()
    await pass(1_000)
    expect(delay.currentMs()).to.be.within(3_600, 4_400)
    delay.stop()
  })

  it('does not count where nothing is read at all, and counts again when it goes on', async () => {
    const { delay, ends, read, pass } = watched()
    await pass(2_000, () => (ends.raw += 10))
    expect(delay.currentMs()).to.be.within(1_600, 2_200)
    await pass(5_000)
    expect(delay.currentMs()).to.equal(0)
    read.etl = 10
    await pass(200)
    expect(delay.currentMs()).to.be.above(5_000)
    read.etl = ends.raw
    await pass(200)
    expect(delay.currentMs()).to.equal(0)
    delay.stop()
  })
})
