import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFakeClock } from '../../../../testing/fake-clock.ts'
import { withDefaults } from '../both-clients/kafka-config.ts'
import { PartitionQueues } from '../both-clients/partition-queues.ts'
import type { FetchAnswer } from './fetch-answer.ts'
import { Fetcher, type FetcherDeps } from './fetcher.ts'

const OFFSET_OUT_OF_RANGE = 1
const EPOCH = 5
/** Place of the topics among the arguments behind the broker's number. */
const ASKED_TOPICS = 8

describe('reading ahead from Kafka', () => {
  const build = (leaders: readonly number[]) => {
    const clock = createFakeClock()
    const warnings: object[] = []
    const log = { info: () => undefined, warn: (fields: object) => void warnings.push(fields), error: () => undefined }
    const asked: number[] = []
    const askedEpochs: unknown[] = []
    const topic = { id: 'id' }
    const startedOver: number[] = []
    /** By default all brokers are away. */
    const broker = { answer: async (): Promise<FetchAnswer> => Promise.reject(new Error('gone')) }
    const ask = (nodeId: number, ...args: unknown[]) => {
      asked.push(nodeId)
      const topics = args[ASKED_TOPICS] as readonly { readonly partitions: readonly { readonly currentLeaderEpoch: number }[] }[]
      askedEpochs.push(topics.flatMap(({ partitions }) => partitions.map(({ currentLeaderEpoch }) => currentLeaderEpoch)))
      return broker.answer()
    }
    const cluster: FetcherDeps['cluster'] = {
      settings: { ...withDefaults({ brokers: [], topics: [], clock }), log },
      has: () => true,
      topic: () => ({ id: topic.id, leaders, leaderEpochs: leaders.map(() => EPOCH) }),
      refresh: async () => undefined,
      ask: ask as FetcherDeps['cluster']['ask'],
    }
    const queues = new PartitionQueues(clock, 1 << 20)
    for (const partition of leaders.keys()) queues.add({ topic: 'logs', partition, offset: 0 })
    const fetcher = new Fetcher({
      ...{ cluster, queues },
      resetOffset: async () => 7,
      startOver: list => {
        for (const queue of list) {
          startedOver.push(queue.partition)
          queues.remove(queue)
        }
      },
    })
    return { clock, warnings, asked, askedEpochs, topic, startedOver, queues, fetcher, broker }
  }

  it('a partition without a leader is looked for in a while, and holds nothing up meanwhile', async () => {
    const { warnings, asked, fetcher } = build([-1])
    fetcher.pump()
    fetcher.pump()
    await turn()
    expect(asked).to.deep.equal([])
    expect(warnings).to.deep.equal([{ problem: 'a partition has no leader' }])
    fetcher.close()
  })

  it('a broker is asked as the leader of its election, so that one that led before refuses', async () => {
    const { askedEpochs, fetcher } = build([1, 2, 1])
    fetcher.pump()
    await turn()
    expect(askedEpochs).to.deep.equal([[EPOCH, EPOCH], [EPOCH]])
    fetcher.close()
  })

  it('brokers that are away are asked again in a while; the log says so once', async () => {
    const { clock, warnings, asked, fetcher } = build([1, 2])
    for (let round = 0; round < 3; round++) {
      fetcher.pump()
      await turn()
      clock.advance(1_000)
      await turn()
    }
    expect(asked.filter(id => id === 1).length).to.be.within(3, 6)
    expect(warnings).to.deep.equal([{ problem: 'gone' }])
    fetcher.close()
  })

  it('a partition that its broker cannot read is told of once, also by a broker that was away before', async () => {
    const { clock, warnings, fetcher, broker } = build([1])
    const rounds = async (count: number) => {
      for (let round = 0; round < count; round++) {
        fetcher.pump()
        await turn()
        clock.advance(1_000)
        await turn()
      }
    }
    await rounds(3)
    const CORRUPT_MESSAGE = 2
    const partition = { topicId: 'id', partition: 0, errorCode: CORRUPT_MESSAGE, abortedTransactions: [], batches: [] }
    broker.answer = async () => ({ errorCode: 0, partitions: [partition] })
    await rounds(3)
    expect(warnings).to.deep.equal([{ problem: 'gone' }, { problem: 'partition 0 of logs: CORRUPT_MESSAGE' }])
    broker.answer = async () => {
      await turn()
      return { errorCode: 0, partitions: [{ ...partition, errorCode: 0 }] }
    }
    await rounds(2)
    broker.answer = () => Promise.reject(new Error('gone'))
    await rounds(2)
    expect(warnings.slice(2)).to.deep.equal([{ problem: 'gone' }])
    fetcher.close()
  })

  describe('outside of what a partition keeps', () => {
    const outOfRange = async (offset: number) => {
      const built = build([1])
      const { queues, fetcher, broker, startedOver } = built
      queues.get('logs', 0)!.seek(offset)
      const partition = { topicId: 'id', partition: 0, errorCode: OFFSET_OUT_OF_RANGE, abortedTransactions: [], batches: [] }
      broker.answer = async () => {
        broker.answer = () => new Promise(() => undefined)
        return { errorCode: 0, partitions: [partition] }
      }
      fetcher.pump()
      for (let i = 0; i < 5; i++) await turn()
      fetcher.close()
      return { startedOver, next: queues.get('logs', 0)?.fetchOffset }
    }

    it('reading goes on at the first record that is kept', async () => {
      expect(await outOfRange(3)).to.deep.equal({ startedOver: [], next: 7 })
    })

    it('the partition starts over where fewer records are kept than were read', async () => {
      expect(await outOfRange(1_000)).to.deep.equal({ startedOver: [0], next: undefined })
    })
  })

  it('a topic that was made anew starts over, and is not asked for where the one before was read to', async () => {
    const { clock, topic, startedOver, asked, fetcher } = build([1, 1])
    fetcher.pump()
    await turn()
    const before = asked.length
    topic.id = 'another'
    clock.advance(1_000)
    for (let i = 0; i < 5; i++) await turn()
    fetcher.close()
    expect(startedOver).to.deep.equal([0, 1])
    expect(asked.length - before).to.equal(0)
  })
})
