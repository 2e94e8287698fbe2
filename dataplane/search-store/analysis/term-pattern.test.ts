import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../testing/rounds.ts'
import { holdsPhrase } from '../query/run/matches.ts'
import { wildcardPattern } from './term-pattern.ts'

/** The same by a regular expression. */
function expected(pattern: string, term: string): boolean {
  const source = [...pattern.matchAll(/\\(.)|(.)/gsu)].map(([, escaped, char]) => {
    if (escaped === undefined && char === '*') return '[\\s\\S]*'
    if (escaped === undefined && char === '?') return '.'
    return (escaped ?? char!).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  })
  return new RegExp(`^${source.join('')}$`, 'su').test(term)
}

const quickest = (work: () => void): number => {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3; round++) {
    const start = performance.now()
    work()
    best = Math.min(best, performance.now() - start)
  }
  return best
}

describe('a wildcard', () => {
  const letters = fc.constantFrom('a', 'b', 'aa', 'ab', '😀', 'é')
  const pattern = fc.array(fc.oneof(letters, fc.constantFrom('*', '?', '??', '\\*', '\\?')), { maxLength: 8 }).map(parts => parts.join(''))
  const term = fc.array(fc.oneof(letters, fc.constantFrom('*', '?')), { maxLength: 10 }).map(parts => parts.join(''))

  it('fits what a regular expression of the same meaning fits', () => {
    fc.assert(
      fc.property(pattern, term, (glob, text) => {
        expect(wildcardPattern(glob).test(text), `${glob} on ${text}`).to.equal(expected(glob, text))
      }),
      { numRuns: rounds(3000) },
    )
  })

  it('of a run of more than 32 characters with ? is found, too', () => {
    const run = `${'ab?'.repeat(30)}`
    expect(wildcardPattern(`*${run}*x`).test(`abb${'aba'.repeat(31)}bx`)).to.equal(true)
    expect(wildcardPattern(`*${run}*x`).test(`abb${'aba'.repeat(28)}bx`)).to.equal(false)
  })

  for (const [name, glob] of [
    ['letters', `*${'a'.repeat(997)}b*`],
    ['question marks', `*${'?a'.repeat(499)}*b`],
    ['stars', `${'*a'.repeat(499)}*b`],
    ['all of it', `${'*a?aa'.repeat(199)}*b`],
  ] as const)
    it(`of 1,000 characters over a term of 32 KB takes milliseconds: ${name}`, () => {
      const test = wildcardPattern(glob)
      expect(quickest(() => test.test('a'.repeat(32_766)))).to.be.below(50)
    })
})

describe('a phrase among many equal words', () => {
  const tokens = Array.from({ length: 200_000 }, () => 'a')

  it('is found or not in time linear in the text', () => {
    const words = [...Array.from({ length: 1000 }, () => 'a'), 'b']
    expect(quickest(() => expect(holdsPhrase(tokens, words, 0, false)).to.equal(false))).to.be.below(50)
    expect(quickest(() => expect(holdsPhrase([...tokens, 'bc'], words, 0, true)).to.equal(true))).to.be.below(50)
  })

  it('is told apart by what stands around it', () => {
    const word = fc.constantFrom('a', 'b', 'ab')
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 12 }),
        fc.array(word, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        (text, words, lastIsPrefix) => {
          const found = text.some((_token, start) =>
            words.every((each, at) =>
              lastIsPrefix && at === words.length - 1 ? text[start + at]?.startsWith(each) === true : text[start + at] === each,
            ),
          )
          expect(holdsPhrase(text, words, 0, lastIsPrefix)).to.equal(found)
        },
      ),
      { numRuns: rounds(2000) },
    )
  })
})
