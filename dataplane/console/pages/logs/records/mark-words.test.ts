import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { markExpression, markWords } from './mark-words.ts'

const TEXT = fc.string({ unit: fc.constantFrom(...'abAB0 .,-*?()[]\\|^$+éßİ漢', '😀'), maxLength: 30 })

const marked = (text: string, ...words: string[]) =>
  markWords(text, markExpression(words))
    .filter(({ isMarked }) => isMarked)
    .map(span => span.text)

describe('marks in a message', () => {
  it('whole words in any case, phrases, and patterns', () => {
    expect(marked('Timeout after timeouts', 'timeout')).to.deep.equal(['Timeout'])
    expect(marked('the disk, full of it', 'disk full')).to.deep.equal(['disk, full'])
    expect(marked('timeout timed time', 'time*')).to.deep.equal(['timeout', 'timed', 'time'])
    expect(marked('cat cut cart', 'c?t')).to.deep.equal(['cat', 'cut'])
    expect(marked('a.b(c)', 'b(c')).to.deep.equal(['b(c'])
    expect(marked('anything', '*', '...')).to.deep.equal([])
    expect(marked('größe Größe', 'GRÖSSE', 'größe')).to.deep.equal(['größe', 'Größe'])
  })

  it('take no time, whatever is searched', () => {
    const startedMs = performance.now()
    for (const words of [`${'*'.repeat(200)}b`, '*a'.repeat(50), '?*'.repeat(50), 'a* '.repeat(50)]) marked('a'.repeat(20_000), words)
    expect(performance.now() - startedMs).to.be.below(2_000)
  })

  it('leave the text as it is, whatever it is', () => {
    fc.assert(
      fc.property(TEXT, fc.array(TEXT, { maxLength: 3 }), (text, words) => {
        expect(
          markWords(text, markExpression(words))
            .map(span => span.text)
            .join(''),
        ).to.equal(text)
      }),
      { numRuns: 30 },
    )
  })
})
