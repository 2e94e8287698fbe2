import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../testing/rounds.ts'
import { Turns } from '../../../turns.ts'
import { IdTable } from './id-table.ts'

describe('id table', () => {
  it('finds what a map would, also after growing and rolling back', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ ids: fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 120 }), keep: fc.boolean() }), { maxLength: 12 }),
        async runs => {
          const table = new IdTable()
          let model = new Map<number, number>()
          const idOf = new Map<number, number>()
          let next = 0
          for (const { ids, keep } of runs) {
            const before = new Map(model)
            table.begin(ids.length, () => true)
            for (const id of ids) {
              const place = next++
              idOf.set(place, id)
              table.set(hashOf(id), place, model.get(id) ?? -1)
              model.set(id, place)
            }
            if (!keep) {
              table.rollback()
              model = before
            }
          }
          const inOrder = await table.inOrder(place => place % 3 > 0, new Turns(0))
          const places = [...inOrder].filter((_, k) => k % 2 === 1)
          const hashes = [...inOrder].filter((_, k) => k % 2 === 0)
          expect(places.sort((a, b) => a - b)).to.deep.equal([...model.values()].filter(place => place % 3 > 0).sort((a, b) => a - b))
          expect(hashes).to.deep.equal(hashes.toSorted((a, b) => a - b))
          for (let id = 0; id <= 400; id++) expect(table.find(hashOf(id), place => idOf.get(place) === id)).to.equal(model.get(id) ?? -1)
          await table.keep(place => place % 2 === 0, new Turns(0))
          expect(table.size).to.equal([...model.values()].filter(place => place % 2 === 0).length)
          for (const [id, place] of model)
            expect(table.find(hashOf(id), found => idOf.get(found) === id)).to.equal(place % 2 === 0 ? place : -1)
        },
      ),
      { numRuns: rounds(200), seed: 5 },
    ))

  it('lets others run while many ids are put in order or dropped, and finds them meanwhile', async () => {
    const table = new IdTable()
    const count = 300_000
    const hash = (n: number) => Math.imul(n, 0x9e3779b1)
    table.begin(count, () => true)
    for (let n = 0; n < count; n++) table.set(hash(n), n, -1)
    for (const work of ['inOrder', 'keep'] as const) {
      let turns = 0
      let isAtWork = true
      const others = () => {
        expect(table.find(hash(7), place => place === 7)).to.equal(7)
        turns++
        if (isAtWork) setImmediate(others)
      }
      setImmediate(others)
      await table[work](place => place % 2 === 1, new Turns())
      isAtWork = false
      expect(turns, work).to.be.above(1)
    }
    expect(table.size).to.equal(count / 2)
  })

  it('does not grow for ids that nobody wants any more', () => {
    const table = new IdTable()
    for (let batch = 0; batch < 500; batch++) {
      table.begin(100, place => place >= 100 * (batch - 1))
      for (let k = 0; k < 100; k++) table.set(Math.imul(100 * batch + k, 0x9e3779b1), 100 * batch + k, -1)
    }
    expect(table.sizeBytes).to.be.at.most(8 * 1_000)
    expect(table.find(Math.imul(49_999, 0x9e3779b1), place => place === 49_999)).to.equal(49_999)
  })
})

/** Few distinct hashes at both ends of the range, so that runs collide and wrap around. */
const hashOf = (id: number) => (id % 3 === 0 ? 0xffff_ffff : Math.imul(id % 97, 0x9e3779b1))
