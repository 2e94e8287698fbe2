import { expect } from 'chai'
import { describe, it } from 'mocha'
import { meanShift, shareShift, silenceShift } from './shift.ts'
import { SLOTS, SlotTable } from './slots.ts'

const OPEN = 1_000
const always = { may: () => true, does: () => true }

/** `of` units in each slot; in the slots before, and in the two judged ones, so much of them. */
function table(of: number, before: (slot: number) => number, now: number) {
  const slots = new SlotTable()
  const [sums, units] = [slots.addSeries(), slots.addSeries()]
  for (let slot = OPEN - SLOTS + 1; slot < OPEN; slot++) {
    slots.add(units, slot, of)
    slots.add(sums, slot, slot < OPEN - 2 ? before(slot) : now)
  }
  return { table: slots, sums, units, open: OPEN }
}

describe('how far the judged minute lies from the time before', () => {
  it('a share that stays does not move', () => {
    expect(
      shareShift(
        table(20, () => 10, 10),
        always,
      )?.strength,
    ).to.be.closeTo(0, 0.01)
  })

  it('a share that falls or rises is as strong as it is unlikely', () => {
    expect(
      shareShift(
        table(20, () => 19, 1),
        always,
      )!.strength,
    ).to.be.below(-8)
    expect(
      shareShift(
        table(20, () => 1, 19),
        always,
      )!.strength,
    ).to.be.above(8)
    expect(
      shareShift(
        table(3, () => 2, 1),
        always,
      )!.strength,
    ).to.be.within(-3, -0.5)
  })

  it('is smaller where the slots before differ from each other', () => {
    const still = shareShift(
      table(20, () => 10, 18),
      always,
    )!.strength
    const lively = shareShift(
      table(20, slot => (slot % 2 === 0 ? 2 : 18), 18),
      always,
    )!.strength
    expect(lively).to.be.within(0.1, still / 3)
  })

  it('is not told of a few units, nor where it does not matter', () => {
    expect(
      shareShift(
        table(1, () => 1, 0),
        always,
      ),
    ).to.equal(undefined)
    expect(
      shareShift(
        table(20, () => 10, 18),
        { ...always, does: () => false },
      ),
    ).to.equal(undefined)
  })

  it('a mean that grows counts for more the more units have it, up to what minutes differ in', () => {
    const [few, many] = [5, 500].map(
      of =>
        meanShift(
          table(of, () => 0, 2 * of),
          always,
        )!.strength,
    )
    expect(few).to.be.within(3, 5)
    expect(many).to.be.within(5, 7)
  })

  it('silence is as strong as records are missing', () => {
    const { table: slots, sums } = table(1, () => 10, 0)
    // None of 20 that are expected: one in e^20.
    expect(silenceShift(slots, sums, OPEN, 2).strength).to.be.closeTo(-5.88, 0.01)
    expect(silenceShift(slots, sums, OPEN, 2, 0.5).strength).to.be.closeTo(-3.93, 0.01)
  })

  it('silence is less where records come in bursts', () => {
    const { table: slots, sums } = table(1, slot => (slot % 3 === 0 ? 28 : 1), 0)
    expect(silenceShift(slots, sums, OPEN, 4).strength).to.be.within(-4, -2)
  })
})
