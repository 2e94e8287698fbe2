import { expect } from 'chai'
import { describe, it } from 'mocha'
import { keepBounded } from './keep-bounded.ts'

describe('a bounded map', () => {
  it('lets the entry go that was put there longest ago, and none for an entry that is there', () => {
    const map = new Map<string, number>()
    for (const [at, key] of ['a', 'b', 'a', 'c', 'a', 'd'].entries()) keepBounded(map, key, at, 2)
    expect([...map]).to.deep.equal([
      ['a', 4],
      ['d', 5],
    ])
  })
})
