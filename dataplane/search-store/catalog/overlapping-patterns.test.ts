import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { wildcardPattern } from '../analysis/term-pattern.ts'
import { mayOverlap } from './overlapping-patterns.ts'

const NAMES = Array.from({ length: 1 << 8 }, (_, n) => Array.from(n.toString(2).slice(1), bit => (bit === '1' ? 'a' : 'b')).join(''))

describe('two patterns of index names', () => {
  for (const [a, b, wanted] of [
    ['logs-*', 'logs-*', true],
    ['logs-*', '*-eu', true],
    ['logs-*', 'log-*', false],
    ['a*b*c', 'a*d', false],
    ['a*b*c', '*', true],
    ['*', '', true],
    ['', 'a', false],
    ['**', 'a', true],
  ] as const)
    it(`${a} and ${b} ${wanted ? 'have a name in common' : 'have no name in common'}`, () => {
      expect(mayOverlap(a, b)).to.equal(wanted)
      expect(mayOverlap(b, a)).to.equal(wanted)
    })

  it('overlap exactly where there is a name that fits both', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 3 })
    fc.assert(
      fc.property(pattern, pattern, (a, b) => {
        const [first, second] = [wildcardPattern(a), wildcardPattern(b)]
        expect(mayOverlap(a, b)).to.equal(NAMES.some(name => first.test(name) && second.test(name)))
      }),
      { numRuns: 500 },
    )
  })
})
