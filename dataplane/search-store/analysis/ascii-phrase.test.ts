import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../testing/rounds.ts'
import { AsciiPhrase } from './ascii-phrase.ts'
import { analyze } from './standard-analyzer.ts'

const LONG = 'x'.repeat(254)
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
  '\u212a',
  LONG,
)
const text = fc.array(piece, { maxLength: 14 }).map(pieces => pieces.join(''))
const word = fc.constantFrom('ab', 'c', '1', '23', 'abc', 'a', '_c', 'ab.c', '1,23')

/** JSON whose characters beyond ASCII are escaped. */
const escaped = (json: string) => json.replace(/[^\x00-\x7f]/g, each => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)

const isIn = (words: readonly string[], lastIsPrefix: boolean, value: string, isEscaped = false) =>
  new AsciiPhrase(
    words.map(each => Buffer.from(each)),
    lastIsPrefix,
  ).isIn(Buffer.from((isEscaped ? escaped : String)(JSON.stringify(value).slice(1, -1))))

/** Whether the analyzer's words hold these next to each other. */
function isExpected(words: readonly string[], lastIsPrefix: boolean, value: string): boolean {
  const all = analyze(value)
  return all.some((_each, at) =>
    words.every((each, k) => (lastIsPrefix && k === words.length - 1 ? all[at + k]?.startsWith(each) : all[at + k] === each)),
  )
}

describe('a phrase in ASCII', () => {
  it('stands where the standard analyzer finds its words next to each other, or is left to it', () => {
    let told = 0
    fc.assert(
      fc.property(
        text,
        fc.array(word, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        fc.boolean(),
        (value, words, lastIsPrefix, isEscaped) => {
          const answer = isIn(words, lastIsPrefix, value, isEscaped)
          if (answer === undefined) return
          told++
          expect(answer, `${JSON.stringify(value)}: ${words}`).to.equal(isExpected(words, lastIsPrefix, value))
        },
      ),
      { numRuns: rounds(8000), seed: 3 },
    )
    expect(told).to.be.greaterThan(rounds(2000))
  })

  it('is found wherever it stands', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.integer({ min: 1, max: 3 }), (value, at, length) => {
        const all = analyze(value)
        const words = all.slice(at % (all.length + 1), (at % (all.length + 1)) + length)
        if (words.length > 0) expect(isIn(words, false, value), `${JSON.stringify(value)}: ${words}`).to.not.equal(false)
      }),
      { numRuns: rounds(3000), seed: 4 },
    )
  })

  it('is left to the analyzer beyond ASCII, behind \\u and in overlong words', () => {
    for (const value of ['é full disk', '\u0001 full disk', `${LONG}ab full disk`, 'ab\u0301 full disk'])
      expect(isIn(['disk'], false, value)).to.equal(undefined)
    expect(isIn(['full', 'disk'], false, 'a "Full" disk, é')).to.equal(true)
  })
})
