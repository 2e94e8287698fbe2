import { expect } from 'chai'
import { describe, it } from 'mocha'
import { isByStrength } from './candidate-order.ts'

const scored = (...scores: readonly number[]) => scores.map(score => ({ score }))

describe('the order of candidates', () => {
  it('is by strength where no score is above the one before', () => {
    for (const candidates of [scored(), scored(1), scored(7.5, 2.6, 2.6, 2.4)]) expect(isByStrength(candidates)).to.equal(true)
    expect(isByStrength(scored(7.5, 2.9, 2.4, 2.6))).to.equal(false)
  })
})
