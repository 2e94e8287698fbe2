import { expect } from 'chai'
import { describe, it } from 'mocha'
import { largestSource } from './largest-source.ts'

const HOLDERS = [
  { source: 'a', heldBytes: 60 },
  { source: 'b', heldBytes: 40 },
  { source: 'a', heldBytes: 40 },
  { source: undefined, heldBytes: 500 },
]

describe('the source that has most of a memory', () => {
  for (const [what, asking, bytes, expected] of [
    ['is told to one that has half as much with what it asks for', 'b', 10, 'a'],
    ['is not told to one that has more than half as much', 'b', 11, undefined],
    ['is told to one that has nothing yet', 'c', 50, 'a'],
    ['is not told to one that asks for more than half as much', 'c', 51, undefined],
    ['is not told to itself', 'a', 1, undefined],
    ['is not told where nothing is known of who asks', undefined, 1, undefined],
  ] as const)
    it(what, () => {
      expect(largestSource(HOLDERS, asking, bytes)).to.equal(expected)
    })

  it('is nobody where nothing is held', () => {
    expect(largestSource([], 'a', 1)).to.equal(undefined)
  })
})
