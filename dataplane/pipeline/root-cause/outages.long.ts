import { expect } from 'chai'
import { describe, it } from 'mocha'
import { judgeOutage } from '../../testing/outages/judge-outage.ts'
import { OUTAGES } from '../../testing/outages/outages.ts'

const SEED = 1

describe('causes of outages as companies know them', function () {
  this.timeout(120_000)
  const faults = Object.keys(OUTAGES).filter(name => OUTAGES[name]!.culprits.length > 0)

  // Measured on 2026-11-30: 45 of 49 with traces, 41 without; words in 32 and 33 summaries of 35.
  for (const [hasTraces, first] of [
    [true, 44],
    [false, 40],
  ] as const)
    it(`are first ${hasTraces ? 'with trace ids' : 'without trace ids'} in nearly all, and their summaries say why`, async () => {
      const judged = await Promise.all(faults.map(name => judgeOutage(OUTAGES[name]!, { seed: SEED, hasTraces })))
      const missed = faults.filter((_, at) => judged[at]!.rank > 1)
      expect(faults.length - missed.length, `not first: ${missed.join(', ')}`).to.be.at.least(first)
      const silent = faults.filter((_, at) => judged[at]!.says === false)
      expect(silent.length, `without the words: ${silent.join(', ')}`).to.be.at.most(4)
    })

  it('are not "most likely" where nothing is wrong', async () => {
    const calm = Object.keys(OUTAGES).filter(name => !faults.includes(name))
    expect(calm).to.have.length.above(3)
    for (const name of calm)
      for (const hasTraces of [true, false])
        expect((await judgeOutage(OUTAGES[name]!, { seed: SEED, hasTraces })).isLikely, name).to.equal(false)
  })
})
