import { expect } from 'chai'
import { describe, it } from 'mocha'
import { entryOf } from './entry-of.ts'

describe('entry of a map', () => {
  it('is made once', () => {
    const map = new Map<string, number[]>()
    entryOf(map, 'a', () => []).push(1)
    entryOf(map, 'a', () => []).push(2)
    expect([...map]).to.deep.equal([['a', [1, 2]]])
  })
})
