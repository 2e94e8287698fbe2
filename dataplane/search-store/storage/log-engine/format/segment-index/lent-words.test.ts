import { expect } from 'chai'
import { describe, it } from 'mocha'
import { giveBack, lendNumbers, lendWords } from './lent-words.ts'

describe('arrays that are lent', () => {
  it('have as many places as are asked for, and memory that nobody else has', () => {
    const counts = [0, 1, 255, 256, 257, 5_000, 1 << 17, (1 << 17) + 1, 400_000]
    const arrays = counts.flatMap(count => [lendWords(count), lendNumbers(count)])
    expect(arrays.map(({ length }) => length)).to.deep.equal(counts.flatMap(count => [count, count]))
    expect(new Set(arrays.map(({ buffer }) => buffer)).size).to.equal(arrays.length)
    for (const array of arrays) giveBack(array)
  })

  it('are lent again once they are given back', () => {
    const first = lendWords(9_000)
    first.fill(7)
    giveBack(first)
    const again = lendNumbers(4_097)
    expect(again.buffer).to.equal(first.buffer)
    expect(lendNumbers(4_097).buffer).not.to.equal(first.buffer)
  })

  it('are not kept beyond the number and the length of those of some readers', () => {
    const many = Array.from({ length: 20 }, () => lendWords(70_000))
    for (const array of many) giveBack(array)
    const kept = new Set(many.map(({ buffer }) => buffer))
    const again = Array.from({ length: 20 }, () => lendWords(70_000)).filter(({ buffer }) => kept.has(buffer))
    expect(again).to.have.length(4)
    const long = lendWords(1 << 18)
    giveBack(long)
    expect(lendWords(1 << 18).buffer).not.to.equal(long.buffer)
  })
})
