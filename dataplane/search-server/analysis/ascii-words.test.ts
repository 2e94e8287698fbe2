import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { AsciiWords } from './ascii-words.ts'
import { analyze } from './standard-analyzer.ts'

const piece = fc.constantFrom(
  'Ab',
  'c',
  '1',
  '23',
  '_',
  '.',
  ',',
  ':',
  ';',
  "'",
  ' ',
  '-',
  '"',
  '\\',
  '\n',
  '\t',
  '/',
  '\u0001',
  'é',
  'K',
  'x'.repeat(254),
)
const text = fc.array(piece, { maxLength: 14 }).map(pieces => pieces.join(''))

describe('words of ASCII', () => {
  it('are those of the standard analyzer, or it says that it cannot tell', () => {
    const words = new AsciiWords()
    let told = 0
    fc.assert(
      fc.property(text, each => {
        if (!words.read(Buffer.from(JSON.stringify(each).slice(1, -1)))) return
        told++
        const expected = analyze(each)
        expect(words.count, each).to.equal(expected.length)
        for (const [k, word] of expected.entries()) {
          expect(words.is(k, Buffer.from(word)), `${each}: ${word}`).to.equal(true)
          expect(words.startsWith(k, Buffer.from(word.slice(0, 2))), `${each}: ${word}`).to.equal(true)
          expect(words.is(k, Buffer.from(`${word}a`)), `${each}: ${word}`).to.equal(false)
        }
      }),
      { numRuns: 5000, seed: 3 },
    )
    expect(told).to.be.greaterThan(1000)
  })
})
