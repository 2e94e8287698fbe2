import { expect } from 'chai'
import { describe, it } from 'mocha'
import { firstOf, listWords } from './listed.ts'
import { shortened } from './shortened.ts'

describe('texts of messages', () => {
  it('a text that fits stays as it is', () => {
    expect(shortened('four', 4)).to.equal('four')
  })

  it('a longer text is cut, and the mark of the cut counts', () => {
    expect(shortened('longer', 4)).to.equal('lon…')
  })

  it('a cut leaves no half of a surrogate pair', () => {
    const cut = shortened('ab😀cd', 4)
    expect(cut.isWellFormed()).to.equal(true)
    expect(cut).to.have.lengthOf(4)
  })

  it('words are listed as a sentence needs them', () => {
    expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(listWords)).to.deep.equal(['', 'a', 'a and b', 'a, b and c'])
  })

  it('of many names the first are listed', () => {
    expect(firstOf(['a', 'b', 'c'], 3)).to.equal('a, b, c')
    expect(firstOf(['a', 'b', 'c', 'd'], 3)).to.equal('a, b, c …')
  })
})
