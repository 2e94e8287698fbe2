import { expect } from 'chai'
import { describe, it } from 'mocha'
import { backOffMs } from './back-off.ts'

const CONFIG = { firstMs: 100, maxMs: 1_000 }

describe('back-off', () => {
  it('doubles from the first pause to the longest', () => {
    const pauses = [1, 2, 3, 4, 5, 100, 10_000].map(failures => backOffMs(CONFIG, failures, () => 0))
    expect(pauses).to.deep.equal([100, 200, 400, 800, 1_000, 1_000, 1_000])
  })

  it('takes off up to a quarter by chance', () => {
    expect(backOffMs(CONFIG, 5, () => 0.5)).to.equal(875)
    expect(backOffMs(CONFIG, 5, () => 0.999)).to.equal(750)
    for (let i = 0; i < 100; i++) expect(backOffMs(CONFIG, 2)).to.be.within(150, 200)
  })
})
