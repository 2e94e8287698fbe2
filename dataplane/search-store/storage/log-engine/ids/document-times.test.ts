import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../testing/rounds.ts'
import { DocumentTimes } from './document-times.ts'

const DAY = Date.UTC(2026, 10, 28)
const time = fc
  .oneof(
    fc.integer({ min: -86_400_000_000_000, max: 18_446_744_073_709 }).map(ms => ms - DAY),
    fc.integer({ min: 0, max: 50 }),
    fc.integer({ min: 0, max: 86_400_000 }),
  )
  .map(ms => DAY + ms)
const times = fc.array(time, { minLength: 1, maxLength: 30, size: 'max' }).map(each => Float64Array.from(each))

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

  it('leave out each time between two, however far apart they are', () => {
    const some = DocumentTimes.ofAll(Float64Array.of(DAY + 86_399_999, -5, DAY, DAY + 3_600_000, 18_446_744_073_709))
    expect([-5, DAY, DAY + 3_600_000, DAY + 86_399_999, 18_446_744_073_709].filter(ms => !some.mayHold(ms))).to.deep.equal([])
    const between = [-7, -3, 0, DAY - 2, DAY + 60_000, DAY + 3_600_002, DAY + 86_399_997, DAY + 86_500_000, 18_446_744_073_711]
    expect(between.filter(ms => some.mayHold(ms))).to.deep.equal([])
    expect(some.mayHold(Number.NaN)).to.equal(false)
  })

  it('keep the longest gaps where there are many', () => {
    // 20,000 documents, a pair each two seconds, and nothing in the hour behind the first 10,000.
    const all = Float64Array.from({ length: 20_000 }, (_, k) => DAY + 2_000 * (k >>> 1) + 3 * (k & 1) + (k < 10_000 ? 0 : 3_600_000))
    const some = DocumentTimes.ofAll(all)
    expect(all.every(ms => some.mayHold(ms))).to.equal(true)
    expect([DAY - 1, DAY + 10_100_000, DAY + 13_500_000, DAY + 23_700_000].filter(ms => some.mayHold(ms))).to.deep.equal([])
    expect(some.sizeBytes).to.be.at.most(8_192)
  })

  it('are none of no documents', () => {
    const none = DocumentTimes.of(JSON.parse(JSON.stringify(DocumentTimes.ofAll(new Float64Array(0)).toStored())))
    expect(none.mayHold(DAY)).to.equal(false)
    const one = DocumentTimes.union([none, DocumentTimes.ofAll(Float64Array.of(DAY))])
    expect([DAY - 1, DAY, DAY + 1].map(ms => one.mayHold(ms))).to.deep.equal([false, true, false])
  })
})
