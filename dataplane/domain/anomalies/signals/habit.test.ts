import { expect } from 'chai'
import { describe, it } from 'mocha'
import { Habit } from './habit.ts'
import { ServiceSignals } from './service-signals.ts'
import { SPEAKS } from './signal.ts'
import { SLOT_MS } from './slots.ts'
import { plain, START_MS, traffic } from './testing/steady-traffic.ts'

const HOUR = 120
const isLike = (size: number, largest: number) => size <= largest

/** Whether the last of some bursts is usual: slots at which something of a size was found. */
function isLastUsual(...bursts: readonly (readonly [slot: number, size?: number])[]): boolean {
  const habit = new Habit()
  return bursts.map(([slot, size = 5]) => habit.isUsual(slot, size, isLike)).at(-1)!
}

describe('signals: what comes at regular times, alike, is no news', () => {
  it('after three times before, an hour apart, or a day', () => {
    expect(isLastUsual([0], [HOUR], [2 * HOUR])).to.equal(false)
    expect(isLastUsual([0], [HOUR], [2 * HOUR], [3 * HOUR])).to.equal(true)
    expect(isLastUsual([0], [24 * HOUR + 1], [48 * HOUR], [72 * HOUR - 1])).to.equal(true)
  })

  it('some seconds early or late, or left out once', () => {
    expect(isLastUsual([0], [HOUR + 2], [2 * HOUR], [3 * HOUR - 1])).to.equal(true)
    expect(isLastUsual([0], [HOUR], [3 * HOUR], [4 * HOUR])).to.equal(true)
  })

  it('not at other times', () => {
    expect(isLastUsual([0], [HOUR], [2 * HOUR], [3 * HOUR + 20])).to.equal(false)
    expect(isLastUsual([0], [40], [100], [190])).to.equal(false)
  })

  it('not where there is more of it, or it lasts longer', () => {
    expect(isLastUsual([0], [HOUR], [2 * HOUR], [3 * HOUR, 6])).to.equal(false)
    expect(isLastUsual([0], [1], [HOUR], [2 * HOUR], [3 * HOUR], [3 * HOUR + 3])).to.equal(true)
    expect(isLastUsual([0], [1], [HOUR], [2 * HOUR], [3 * HOUR], [3 * HOUR + 4])).to.equal(false)
  })

  it('warnings of a job of each hour are told three times; many more of them, and those of another time, are told again', () => {
    const signals = new ServiceSignals()
    const told: number[] = []
    const job = (slot: number, warnings: number) =>
      Array.from({ length: warnings }, (_, n) =>
        plain(START_MS + slot * SLOT_MS + 5_000 + n * 200, { pattern: 'cart without owner', level: 'WARN' }),
      )
    const warnings = new Map<number, number>([40, 160, 280, 400, 520, 640].map(slot => [slot, 8])).set(760, 60).set(800, 8)
    for (let slot = 0; slot < 820; slot++)
      for (const record of [...traffic(slot, slot + 1, { perSlot: 4 }), ...job(slot, warnings.get(slot) ?? 0)].toSorted(
        (a, b) => a.timeMs - b.timeMs,
      ))
        if ((signals.observe(record) ?? []).some(({ z }) => z >= SPEAKS)) told.push(slot)
    const near = (slot: number) => told.some(each => each >= slot && each < slot + 4)
    expect([40, 160, 280, 400, 520, 640, 760, 800].filter(near)).to.deep.equal([40, 160, 280, 760, 800])
  })
})
