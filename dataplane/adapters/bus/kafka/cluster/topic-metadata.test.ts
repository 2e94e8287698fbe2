import { expect } from 'chai'
import { describe, it } from 'mocha'
import { latestOf, type TopicMetadata, toMetadata } from './topic-metadata.ts'

const topic = (leaders: readonly number[], leaderEpochs: readonly number[], id = 'id'): TopicMetadata => ({ id, leaders, leaderEpochs })

describe('who leads the partitions of a topic', () => {
  const known = topic([2, 3], [6, 4])

  it('is told of partitions in any order', () => {
    const partitions = [
      { partitionIndex: 1, leaderId: 3, leaderEpoch: 4 },
      { partitionIndex: 0, leaderId: 2, leaderEpoch: 6 },
    ]
    expect(toMetadata('id', partitions)).to.deep.equal(known)
  })

  it('is the first that is told', () => {
    expect(latestOf(undefined, known)).to.deep.equal(known)
  })

  it('is the leader of the later election, partition by partition', () => {
    expect(latestOf(known, topic([3, 1], [7, 3]))).to.deep.equal(topic([3, 3], [7, 4]))
    expect(latestOf(known, topic([-1, 1], [7, 5]))).to.deep.equal(topic([-1, 1], [7, 5]))
  })

  it('is told anew in the same election: a leader may be away for a while', () => {
    expect(latestOf(known, topic([-1, 3], [6, 4]))).to.deep.equal(topic([-1, 3], [6, 4]))
  })

  it('is the last that is told where brokers do not count elections', () => {
    expect(latestOf(known, topic([1, 1], [-1, -1]))).to.deep.equal(topic([1, 1], [-1, -1]))
    expect(latestOf(topic([1], [-1]), topic([2], [0]))).to.deep.equal(topic([2], [0]))
  })

  it('is told of partitions that were added, and by a broker that has not heard of them', () => {
    expect(latestOf(known, topic([2, 3, 1], [6, 4, 0]))).to.deep.equal(topic([2, 3, 1], [6, 4, 0]))
    expect(latestOf(known, topic([2], [6]))).to.deep.equal(known)
  })

  it('is told afresh of a topic that was made anew', () => {
    const anew = topic([1], [0], 'another')
    expect(latestOf(known, anew)).to.deep.equal(anew)
  })
})
