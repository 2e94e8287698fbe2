import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { assignPartitions, partitionKey } from './partition-assignment.ts'

const partitionsOf = (topic: string, count: number) => Array.from({ length: count }, (_, partition) => ({ topic, partition }))
const countsOf = (owners: ReadonlyMap<string, string>) => {
  const counts = new Map<string, number>()
  for (const owner of owners.values()) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  return counts
}

describe('partition assignment', () => {
  it('gives one member everything, and nothing to nobody', () => {
    const partitions = partitionsOf('logs', 6)
    expect([...assignPartitions([{ memberId: 'a', topics: ['logs'] }], partitions, new Map())].length).to.equal(6)
    expect(assignPartitions([], partitions, new Map()).size).to.equal(0)
    expect(assignPartitions([{ memberId: 'a', topics: ['other'] }], partitions, new Map()).size).to.equal(0)
  })

  it('moves as few as evenness needs when a member joins', () => {
    const partitions = partitionsOf('logs', 6)
    const before = assignPartitions([{ memberId: 'a', topics: ['logs'] }], partitions, new Map())
    const after = assignPartitions(
      ['a', 'b'].map(memberId => ({ memberId, topics: ['logs'] })),
      partitions,
      before,
    )
    expect(countsOf(after)).to.deep.equal(
      new Map([
        ['a', 3],
        ['b', 3],
      ]),
    )
  })

  it('property: every partition has one owner that subscribes to it, topics are even, and an even state stays as it is', () => {
    const members = fc.array(fc.subarray(['x', 'y'], { minLength: 1 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(members, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 }), (topicLists, x, y) => {
        const all = topicLists.map((topics, index) => ({ memberId: `member ${index}`, topics }))
        const partitions = [...partitionsOf('x', x), ...partitionsOf('y', y)]
        const first = assignPartitions(all, partitions, new Map())
        for (const { topic, partition } of partitions) {
          const readers = all.filter(({ topics }) => topics.includes(topic)).map(({ memberId }) => memberId)
          const owner = first.get(partitionKey(topic, partition))
          if (readers.length === 0) expect(owner).to.equal(undefined)
          else expect(readers).to.include(owner)
        }
        for (const topic of ['x', 'y']) {
          const counts = [...countsOf(new Map([...first].filter(([key]) => key.startsWith(`${topic}/`)))).values()]
          if (counts.length > 1) expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(1)
        }
        expect(assignPartitions(all, partitions, first)).to.deep.equal(first)
      }),
    )
  })
})
