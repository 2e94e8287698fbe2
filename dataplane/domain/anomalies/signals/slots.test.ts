import { expect } from 'chai'
import { describe, it } from 'mocha'
import { SLOT_MS, SLOTS, SlotTable, slotOf } from './slots.ts'

describe('slots of half a minute', () => {
  it('go by event time', () => {
    expect([slotOf(0), slotOf(SLOT_MS - 1), slotOf(SLOT_MS)]).to.deep.equal([0, 0, 1])
  })

  it('keep sums of many series', () => {
    const table = new SlotTable()
    const series = Array.from({ length: 20 }, () => table.addSeries())
    for (const each of series) table.add(each, 100, each)
    expect(series.map(each => table.sum(each, 99, 101))).to.deep.equal(series)
    expect(table.bytes).to.equal(32 * SLOTS * 4)
  })

  it('are empty when they stand for another time', () => {
    const table = new SlotTable()
    const series = table.addSeries()
    table.add(series, 100, 1)
    table.open(100, 100 + SLOTS - 1)
    expect(table.at(series, 100)).to.equal(1)
    table.open(100 + SLOTS - 1, 100 + SLOTS)
    expect(table.at(series, 100)).to.equal(0)
    table.add(series, 140, 1)
    table.open(140, 1_000)
    expect(table.at(series, 140)).to.equal(0)
  })
})
