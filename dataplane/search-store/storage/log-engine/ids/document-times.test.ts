import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../testing/rounds.ts'
import { DocumentTimes } from './document-times.ts'

const DAY = Date.UTC(2026, 10, 28)
const time = fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 86_400_000 })).map(ms => DAY + ms)
const times = fc.array(time, { minLength: 1, maxLength: 30 }).map(each => Float64Array.from(each))

describe('times of documents', () => {
  it('hold each of them, alone, in a union and stored', () =>
    fc.assert(
      fc.property(fc.array(times, { minLength: 1, maxLength: 5 }), all => {
        const each = all.map(DocumentTimes.ofAll)
        const union = DocumentTimes.union(each)
        const stored = DocumentTimes.of(JSON.parse(JSON.stringify(union.toStored())))
        for (const [k, list] of all.entries())
          for (const ms of list)
            expect(
              [each[k]!, union, stored].map(some => some.mayHold(ms)),
              String(ms),
            ).to.deep.equal([true, true, true])
      }),
      { numRuns: rounds(300), seed: 3 },
    ))

  it('leave out times of a second in which there is none, within a day', () => {
    const some = DocumentTimes.ofAll(Float64Array.of(DAY, DAY + 3_600_000, DAY + 86_399_999))
    expect(some.mayHold(DAY + 3_600_000)).to.equal(true)
    expect([DAY - 1, DAY + 60_000, DAY + 3_540_000, DAY + 3_660_000, DAY + 86_500_000].filter(ms => some.mayHold(ms))).to.deep.equal([])
  })
})
