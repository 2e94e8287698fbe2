import { expect } from 'chai'
import { describe, it } from 'mocha'
import { KnownTails } from './known-tails.ts'

const text = (letter: string, length: number) => Buffer.from(letter.repeat(length))

describe('what attributes became in a document', () => {
  it('is known for the same bytes in the same scope', () => {
    const known = new KnownTails()
    const tail = text('a', 10)
    known.remember('day', tail, text('b', 5))
    tail.fill('c')
    expect(known.find('day', text('a', 10))?.toString()).to.equal('bbbbb')
    expect(known.find('day', text('c', 10))).to.equal(undefined)
    expect(known.find('other', text('a', 10))).to.equal(undefined)
  })

  it('is forgotten for the oldest ones when there is too much of it', () => {
    const known = new KnownTails()
    for (let i = 0; i < 10; i++) known.remember('day', text('a', 500_000 + i), text('b', 500_000))
    const found = Array.from({ length: 10 }, (_, i) => known.find('day', text('a', 500_000 + i)) !== undefined)
    expect(found.lastIndexOf(false)).to.equal(5)
    expect(found.indexOf(true)).to.equal(6)
  })
})
