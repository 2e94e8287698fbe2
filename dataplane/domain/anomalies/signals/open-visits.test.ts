import { expect } from 'chai'
import { describe, it } from 'mocha'
import { OpenVisits } from './open-visits.ts'

describe('visits under way', () => {
  it('remember how they began, their latest statement and which they came to', () => {
    const visits = new OpenVisits()
    expect(visits.find(77, 1_000)).to.equal(false)
    visits.begin(77, 1_000, 5, 3)
    expect(visits.find(77, 1_200)).to.equal(true)
    expect([visits.slot, visits.type, visits.last, visits.lastMs]).to.deep.equal([5, 3, 3, 1_000])
    expect([visits.see(3), visits.see(63), visits.see(63)]).to.deep.equal([false, true, false])
    visits.goOn(1_200, 63)
    visits.find(77, 1_300)
    expect([visits.type, visits.last, visits.lastMs]).to.deep.equal([3, 63, 1_200])
  })

  it('are over after half a minute without a record', () => {
    const visits = new OpenVisits()
    visits.find(77, 0)
    visits.begin(77, 0, 0, 1)
    expect([visits.find(77, 30_000), visits.find(77, 30_001)]).to.deep.equal([true, false])
  })

  it('are bounded: one may take the place of another', () => {
    const visits = new OpenVisits()
    for (let hash = 1; hash <= 10_000; hash++) {
      visits.find(hash, 0)
      visits.begin(hash, 0, 0, 1)
    }
    const kept = Array.from({ length: 10_000 }, (_, n) => visits.find(n + 1, 0)).filter(Boolean)
    expect(kept.length).to.be.within(100, 256)
  })
})
