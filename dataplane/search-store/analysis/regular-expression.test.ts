import { expect } from 'chai'
import fc from 'fast-check'
import { rounds } from '../../testing/rounds.ts'
import { endWorkAt, TimeIsOver } from '../query/budget/work-in-hand.ts'
import { fuzzyPattern } from './edit-distance.ts'
import { regexPattern } from './regular-expression.ts'

const PLAIN = { caseInsensitive: false, flags: 'ALL' }

describe('regular expressions', () => {
  const atoms = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\w', 'c', '1', '\\.')
  const expressions = fc.letrec<{ node: string }>(tie => ({
    node: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      atoms,
      fc.tuple(tie('node'), tie('node')).map(([a, b]) => `${a}${b}`),
      fc.tuple(tie('node'), tie('node')).map(([a, b]) => `(${a}|${b})`),
      fc.tuple(tie('node'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{2,}', '{0,1}')).map(([a, sign]) => `(${a})${sign}`),
    ),
  })).node
  const terms = fc.array(fc.constantFrom('a', 'b', 'c', '1', '.', 'é', '😀'), { maxLength: 8 }).map(chars => chars.join(''))

  it('fit what those of JavaScript fit, where both mean the same', () => {
    fc.assert(
      fc.property(expressions, fc.array(terms, { minLength: 8, maxLength: 20 }), (text, words) => {
        const own = regexPattern(text, PLAIN)
        const other = new RegExp(`^(?:${text})$`, 'su')
        for (const word of words) expect(own.test(word), `${text} on ${word}`).to.equal(other.test(word))
      }),
      { numRuns: rounds(500) },
    )
  })

  const CASES: readonly [text: string, options: object, fits: readonly string[], fitsNot: readonly string[]][] = [
    ['foo@', {}, ['foo', 'foobar'], ['fo']],
    ['foo@', { flags: 'NONE' }, ['foo@'], ['foobar']],
    ['a~b', {}, ['a~b'], ['ab']],
    ['a&b', { flags: 'NONE' }, ['a&b'], []],
    ['"a.b"', {}, ['a.b'], ['axb']],
    ['(|b)', {}, ['|b'], ['b', '']],
    ['*a', {}, ['*a'], ['a']],
    ['a**', {}, ['', 'a', 'aaa'], ['b']],
    ['', {}, [''], ['a']],
    ['()', {}, [''], ['a']],
    ['^a$', {}, ['^a$'], ['a']],
    ['x\\-y', {}, ['x-y'], []],
    ['[a\\-z1]+', {}, ['a-z', '1'], ['b']],
    ['ÜBER[a-c]', { caseInsensitive: true }, ['überB', 'ÜBERa'], ['ubera']],
    ['.', {}, ['😀'], ['ab']],
    ['\\S+\\s\\S+', {}, ['a b'], ['ab']],
  ]
  it('are read as Lucene reads them', () => {
    for (const [text, options, fits, fitsNot] of CASES) {
      const pattern = regexPattern(text, { ...PLAIN, ...options })
      for (const term of fits) expect(pattern.test(term), `${text} on ${term}`).to.equal(true)
      for (const term of fitsNot) expect(pattern.test(term), `${text} on ${term}`).to.equal(false)
    }
  })

  const REFUSED: readonly [text: string, reason: string][] = [
    ['.*&.*bar', 'operator [&] (intersection) of a regular expression, unless a backslash stands before it, is not supported'],
    ['<1-20>', 'operator [<] (range of numbers)'],
    ['a#b', 'operator [#] (empty language)'],
    ['foo(', 'unexpected end-of-string'],
    ['foo)', 'end-of-string expected at position 3'],
    ['[a', "expected ']' at position 2"],
    ['a{2', "expected '}' at position 3"],
    ['a{5,1}', 'invalid repetition range(out of order): 5..1'],
    ['a|', 'unexpected end-of-string'],
    ['a"b', "expected '\"' at position 3"],
    ['a\\q', 'invalid character class \\q'],
    ['\\', 'unexpected end-of-string'],
    ['(a{1000}){1000}', 'may take at most 2000 states'],
    ['((((){9999}){9999}){9999}){9999}', 'may take at most 2000 states'],
    ['a'.repeat(1001), 'The length of regex [1001] used in the Regexp Query request has exceeded the allowed maximum of [1000]'],
  ]
  it('are refused with the reason', () => {
    for (const [text, reason] of REFUSED) expect(() => regexPattern(text, PLAIN), text).to.throw(reason)
    expect(() => regexPattern('~a', { ...PLAIN, flags: 'COMPLEMENT' })).to.throw('operator [~] (complement)')
    expect(() => regexPattern('a', { ...PLAIN, flags: 'FOO' })).to.throw('Unknown regexp flag [FOO]')
  })

  const HOSTILE = [
    '(a|b)*a(a|b){600}',
    '(a*)*b',
    '(a?){500}a{500}',
    '(a|aa)+$',
    '((a|b)?){450}c',
    '([a-b]*[b-c]*){400}d',
    `(${'a*'.repeat(490)})*`,
  ]
  it('take time in proportion to the term, and end when the time of the query is over', () => {
    const term = 'ab'.repeat(16_000)
    for (const text of HOSTILE) {
      const pattern = regexPattern(text, PLAIN)
      pattern.test(term.slice(0, 200))
      const start = performance.now()
      try {
        endWorkAt(start + 100, () => pattern.test(term))
      } catch (error) {
        if (!(error instanceof TimeIsOver)) throw error
      }
      expect(performance.now() - start, text).to.be.lessThan(1_000)
    }
  }).timeout(20_000)
})

describe('fuzzy words', () => {
  /** The textbook's table, whole. */
  function distance(a: string, b: string, transpositions: boolean): number {
    const [x, y] = [[...a], [...b]]
    const table = x.map(() => [] as number[]).concat([[]])
    for (let i = 0; i <= x.length; i++)
      for (let j = 0; j <= y.length; j++) {
        if (i === 0 || j === 0) {
          table[i]![j] = i + j
          continue
        }
        let least = Math.min(table[i - 1]![j]! + 1, table[i]![j - 1]! + 1, table[i - 1]![j - 1]! + (x[i - 1] === y[j - 1] ? 0 : 1))
        if (transpositions && i > 1 && j > 1 && x[i - 1] === y[j - 2] && x[i - 2] === y[j - 1])
          least = Math.min(least, table[i - 2]![j - 2]! + 1)
        table[i]![j] = least
      }
    return table[x.length]![y.length]!
  }
  const words = fc.array(fc.constantFrom('a', 'b', 'c', '😀'), { maxLength: 7 }).map(chars => chars.join(''))

  it('are as near as the edits allow', () => {
    fc.assert(
      fc.property(
        words,
        words,
        fc.integer({ min: 0, max: 2 }),
        fc.integer({ min: 0, max: 3 }),
        fc.boolean(),
        (word, term, edits, prefixLength, transpositions) => {
          const isNear = fuzzyPattern(word, { edits, prefixLength, transpositions }).test(term)
          const prefix = [...word].slice(0, prefixLength).join('')
          const isExact = edits === 0 || prefixLength >= [...word].length
          const expected = isExact
            ? term === word
            : term.startsWith(prefix) && distance(word.slice(prefix.length), term.slice(prefix.length), transpositions) <= edits
          expect(isNear, `${word} and ${term}, ${edits} edits, prefix ${prefixLength}`).to.equal(expected)
        },
      ),
      { numRuns: rounds(3_000) },
    )
  })
})
