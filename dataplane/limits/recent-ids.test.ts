import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../testing/rounds.ts'
import { RecentIds } from './recent-ids.ts'

describe('recent ids', () => {
  it('remembers at least its capacity, and at most twice as many', () => {
    const ids = new RecentIds(5_000)
    for (let i = 0; i < 20_000; i++) expect(ids.add(`id-${i}`)).to.equal(true)
    for (let i = 15_000; i < 20_000; i++) expect(ids.has(`id-${i}`)).to.equal(true)
    for (let i = 0; i < 10_000; i++) expect(ids.has(`id-${i}`)).to.equal(false)
  })

  it('behaves as a set below its capacity', () => {
    const step = fc.tuple(fc.constantFrom('add', 'delete', 'has'), fc.string({ maxLength: 3 }))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), steps => {
        const ids = new RecentIds(1_000)
        const expected = new Set<string>()
        for (const [action, id] of steps) {
          expect(ids.has(id)).to.equal(expected.has(id))
          if (action === 'add') expect(ids.add(id)).to.equal(!expected.has(id))
          if (action === 'add') expected.add(id)
          if (action === 'delete') ids.delete(id)
          if (action === 'delete') expected.delete(id)
        }
      }),
      { seed: 7, numRuns: rounds(200) },
    )
  })
})
