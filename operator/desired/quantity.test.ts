import { expect } from 'chai'
import { describe, it } from 'mocha'
import { smallerAmount } from './quantity.ts'

/** The smaller one first. */
const PAIRS = [
  ['250m', '0.5'],
  ['999m', '1'],
  ['384Mi', '1Gi'],
  ['1G', '1Gi'],
  ['0', '50m'],
  ['.5', '1.'],
  ['128M', '2e8'],
  ['1E-3', '2m'],
  ['1k', '1E'],
  ['5u', '1m'],
] as const

describe('amounts', () => {
  for (const [less, more] of PAIRS)
    it(`${less} is less than ${more}`, () => {
      expect(smallerAmount(less, more)).to.equal(less)
      expect(smallerAmount(more, less)).to.equal(less)
    })

  it('of the same size stay as they are', () => expect(smallerAmount('1', '1000m')).to.equal('1'))
})
