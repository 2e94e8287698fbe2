import { expect } from 'chai'
import { describe, it } from 'mocha'
import { FURTHER_OUTAGES } from '../../testing/outages/further-outages.ts'
import { judgeOutage } from '../../testing/outages/judge-outage.ts'
import { OUTAGES } from '../../testing/outages/outages.ts'

const SEED = 1

// Measured on 2026-11-30: 46 of 49 with traces, 43 without, words in 33 and 34 summaries of 35; of the further ones 23 and 22 of 26, words in 20 and 18 of 21.
for (const { what, outages, first, silentAtMost } of [
  { what: 'outages as companies know them', outages: OUTAGES, first: { traces: 44, alone: 40 }, silentAtMost: 4 },
  { what: 'further outages, with structured loggers', outages: FURTHER_OUTAGES, first: { traces: 22, alone: 21 }, silentAtMost: 4 },
])
  describe(`causes of ${what}`, function () {
    this.timeout(120_000)
    const faults = Object.keys(outages).filter(name => outages[name]!.culprits.length > 0)

    for (const hasTraces of [true, false])
      it(`are first ${hasTraces ? 'with trace ids' : 'without trace ids'} in nearly all, and their summaries say why`, async () => {
        const judged = await Promise.all(faults.map(name => judgeOutage(outages[name]!, { seed: SEED, hasTraces })))
        const missed = faults.filter((_, at) => judged[at]!.rank > 1)
        expect(faults.length - missed.length, `not first: ${missed.join(', ')}`).to.be.at.least(hasTraces ? first.traces : first.alone)
        const silent = faults.filter((_, at) => judged[at]!.says === false)
        expect(silent.length, `without the words: ${silent.join(', ')}`).to.be.at.most(silentAtMost)
      })

    it('are not "most likely" where nothing is wrong', async () => {
      const calm = Object.keys(outages).filter(name => !faults.includes(name))
      expect(calm).to.have.length.above(3)
      for (const name of calm)
        for (const hasTraces of [true, false])
          expect((await judgeOutage(outages[name]!, { seed: SEED, hasTraces })).isLikely, name).to.equal(false)
    })
  })
