import { expect } from 'chai'
import { describe, it } from 'mocha'
import { TOPICS } from '../../contract/topics.ts'
import type { PartitionState, TopicPartitionOffset } from '../../ports/bus.ts'
import { readBusState } from './bus-source.ts'

const NAMES = { raw: 'raw-logs', enriched: 'enriched-logs', anomaly: 'anomaly-events', deadLetter: 'dead-letter-queue' }

/** Ten records in each partition, of which the first two are no longer kept. */
const partitions: readonly PartitionState[] = Object.values(TOPICS).flatMap(({ name, partitions }) =>
  Array.from({ length: partitions }, (_, partition) => ({ topic: name, partition, startOffset: 2, endOffset: 10 })),
)

type Groups = Readonly<Record<string, Readonly<Record<string, number>> | Error>>

/** A bus whose groups have committed one offset for all partitions of a topic. */
function busWith(groups: Groups, kept = partitions) {
  return {
    describe: async () => ({ brokers: 3, partitions: kept }),
    committedOffsets: async (groupId: string): Promise<readonly TopicPartitionOffset[]> => {
      const committed = groups[groupId] ?? {}
      if (committed instanceof Error) throw committed
      return kept.flatMap(({ topic, partition }) => (topic in committed ? [{ topic, partition, offset: committed[topic]! }] : []))
    },
  }
}

const ALL_READ = {
  'logpipeline-bridge-etl': { 'raw-logs': 10 },
  'logpipeline-bridge-anomaly': { 'enriched-logs': 10 },
  'logpipeline-bridge-indexer': { 'enriched-logs': 10, 'anomaly-events': 10 },
  'logpipeline-bridge-lifecycle': { 'anomaly-events': 10 },
}

describe("the agent's view of the bus", () => {
  const cases: readonly { readonly name: string; readonly groups: Groups; readonly lag: readonly [number, number, number, number] }[] = [
    { name: 'is 0 when every group has read all', groups: ALL_READ, lag: [0, 0, 0, 0] },
    { name: 'adds up over the partitions', groups: { ...ALL_READ, 'logpipeline-bridge-etl': { 'raw-logs': 7 } }, lag: [18, 0, 0, 0] },
    {
      name: 'is that of the slowest step',
      groups: { ...ALL_READ, 'logpipeline-bridge-indexer': { 'enriched-logs': 9, 'anomaly-events': 5 } },
      lag: [0, 6, 15, 0],
    },
    { name: 'counts what is kept when nothing was committed', groups: {}, lag: [48, 48, 24, 0] },
    {
      name: 'does not count what is no longer kept',
      groups: { ...ALL_READ, 'logpipeline-bridge-etl': { 'raw-logs': 0 } },
      lag: [48, 0, 0, 0],
    },
  ]
  for (const { name, groups, lag } of cases)
    it(`the lag of a topic ${name}`, async () => {
      const { brokers, topics, missing } = await readBusState(busWith(groups), NAMES)
      expect(brokers).to.equal(3)
      expect(missing).to.deep.equal([])
      expect(topics).to.deep.equal({
        'raw-logs': { partitions: 6, consumerLag: lag[0] },
        'enriched-logs': { partitions: 6, consumerLag: lag[1] },
        'anomaly-events': { partitions: 3, consumerLag: lag[2] },
        'dead-letter-queue': { partitions: 1, consumerLag: lag[3] },
      })
    })

  it('names groups whose offsets cannot be read, and topics that are not there', async () => {
    const broken = busWith(
      { ...ALL_READ, 'logpipeline-bridge-etl': new Error('no coordinator') },
      partitions.filter(({ topic }) => topic !== 'anomaly-events'),
    )
    const { topics, missing } = await readBusState(broken, NAMES)
    expect(missing).to.deep.equal(['offsets of logpipeline-bridge-etl', 'topic anomaly-events'])
    expect(topics).not.to.have.property('anomaly-events')
  })
})
