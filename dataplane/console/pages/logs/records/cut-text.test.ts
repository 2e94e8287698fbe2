import { expect } from 'chai'
import { describe, it } from 'mocha'
import { cutText } from './cut-text.ts'

describe('a long text of a record', () => {
  it('is shown whole up to its bound', () => {
    expect(cutText('abc', 3)).to.deep.equal({ shown: 'abc', note: undefined })
    expect(cutText('', 3)).to.deep.equal({ shown: '', note: undefined })
  })

  it('says that it is cut, and where the rest is', () => {
    expect(cutText('a'.repeat(102_400), 50_000)).to.deep.equal({
      shown: 'a'.repeat(50_000),
      note: 'The first 50,000 of 102,400 characters; the copy has all.',
    })
  })

  it('ends with a whole character', () => {
    expect(cutText('ab😀c', 3).shown).to.equal('ab')
    expect(cutText('ab😀c', 4).shown).to.equal('ab😀')
  })
})
