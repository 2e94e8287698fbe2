import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../testing/rounds.ts'
import { cleanText, codePoints, cutText, oneLine, titleWithin } from './cut-text.ts'

describe('texts that are cut', () => {
  const cases = [
    { text: 'abc', max: 3, expected: 'abc' },
    { text: 'abcd', max: 3, expected: 'ab…' },
    { text: '日本語テキスト', max: 4, expected: '日本語…' },
    { text: '🚲🚲🚲', max: 3, expected: '🚲🚲🚲' },
    { text: '🚲🚲🚲🚲', max: 3, expected: '🚲🚲…' },
    { text: 'ab👩‍👩‍👧‍👦cd', max: 6, expected: 'ab…' },
    { text: 'abe\u0301cd', max: 4, expected: 'ab…' },
    { text: '🇩🇪🇫🇷🇯🇵', max: 4, expected: '🇩🇪…' },
  ]
  for (const { text, max, expected } of cases) it(`${text} at ${max}: ${expected}`, () => expect(cutText(text, max)).to.equal(expected))

  it('have at most so many code points, and no half characters', () => {
    const property = fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 50 }), (text, max) => {
      const cut = cutText(text, max)
      expect(codePoints(cut)).to.be.at.most(max)
      expect(cut.isWellFormed()).to.equal(text.isWellFormed())
      if (codePoints(text) <= max) expect(cut).to.equal(text)
    })
    fc.assert(property, { seed: 5, numRuns: rounds(500) })
  })
})

describe('titles of incidents', () => {
  it('are never empty', () => expect(titleWithin(' \n', 30)).to.equal('An incident without a title'))
})

describe('texts of strangers', () => {
  it('lose colours of terminals, control characters and tricks with direction', () => {
    expect(cleanText('a\u001b[1;31mb\u001b[0m\u0000\u202ec\r\nd\re\ud83d')).to.equal('abc\nd\ne\ufffd')
  })

  it('are put on one line', () => expect(oneLine(' a\r\nb\t c\n')).to.equal('a b c'))
})
