import { expect } from 'chai'
import { describe, it } from 'mocha'
import { findingId, Habits, type KeptHabits, MAX_HABITS, readKeptHabits } from './habits.ts'
import { SPEAKS } from './signal.ts'
import { SignalEngine } from './signal-engine.ts'
import { SLOT_MS } from './slots.ts'
import { plain, START_MS, traffic } from './testing/steady-traffic.ts'

const HOUR = 120
const isLike = (size: number, largest: number) => size <= largest
const SERVICE = { key: 'a/carts', partition: 3 }

/** The hours, of some, in which the warnings of a job are told. `between`: called after each hour. */
function toldHours(
  engine: SignalEngine<typeof SERVICE, undefined>,
  hours: readonly number[],
  between: (engine: SignalEngine<typeof SERVICE, undefined>) => SignalEngine<typeof SERVICE, undefined> = same => same,
): readonly number[] {
  const told = new Set<number>()
  let current = engine
  for (const hour of hours) {
    const at = hour * HOUR
    const job = Array.from({ length: 8 }, (_, n) =>
      plain(START_MS + at * SLOT_MS + 5_000 + n * 200, { pattern: 'cart without owner', level: 'WARN' }),
    )
    const records = [...traffic(at - 32, at + 10, { perSlot: 4 }), ...job].toSorted((a, b) => a.timeMs - b.timeMs)
    for (const record of records) if (current.observe(SERVICE, record)?.findings.some(({ z }) => z >= SPEAKS)) told.add(hour)
    current = between(current)
  }
  return [...told]
}

const newEngine = () => new SignalEngine<typeof SERVICE, undefined>(() => undefined)

describe('signals: habits outlive the process', () => {
  it('a job of each hour that was told three times is not told again after each restart', () => {
    const forgotten = toldHours(newEngine(), [1, 2, 3, 4, 5, 6, 7], newEngine)
    expect(forgotten).to.deep.equal([1, 2, 3, 4, 5, 6, 7])
    let kept: readonly KeptHabits[] = []
    const told = toldHours(newEngine(), [1, 2, 3, 4, 5, 6, 7], engine => {
      const changed = engine.habits.takeChanged()
      if (changed.length > 0) kept = JSON.parse(JSON.stringify(changed))
      const next = newEngine()
      for (const each of kept) next.habits.merge({ ...each, habits: readKeptHabits(each.habits) })
      return next
    })
    expect(told).to.deep.equal([1, 2, 3])
  })

  it('records that are read again, from before what is kept, neither tell nor change it', () => {
    const engine = newEngine()
    expect(toldHours(engine, [1, 2, 3, 4, 5])).to.deep.equal([1, 2, 3])
    const [kept] = engine.habits.takeChanged()
    const again = newEngine()
    again.habits.merge(kept!)
    expect(toldHours(again, [4, 5])).to.deep.equal([])
    expect(again.habits.keptOf(3).habits).to.deep.equal(kept!.habits)
    expect(toldHours(again, [6])).to.deep.equal([])
  })

  it('without the latest burst they are habits still', () => {
    const habits = new Habits()
    const at = (slot: number) => habits.of(0, 'a/x')('f', { slot, size: 5, isLike })
    for (const slot of [0, HOUR, 2 * HOUR, 3 * HOUR]) at(slot)
    const [kept] = habits.takeChanged()
    const other = new Habits()
    other.merge(kept!)
    expect(other.of(0, 'a/x')('f', { slot: 5 * HOUR, size: 5, isLike })).to.equal(true)
  })

  it('what two processes know of one burst is one burst', () => {
    const [early, late] = [10, 14].map(to => {
      const habits = new Habits()
      for (const slot of [8, to]) habits.of(0, 'a/x')('f', { slot, size: to, isLike })
      return habits.takeChanged()[0]!
    })
    const both = new Habits()
    for (const kept of [late!, early!, late!]) both.merge(kept)
    expect(both.keptOf(0).habits).to.deep.equal([{ service: 'a/x', finding: 'f', bursts: [[8, 14, 14]] }])
  })

  it('are told once for each change', () => {
    const habits = new Habits()
    expect(habits.takeChanged()).to.deep.equal([])
    habits.of(4, 'a/x')('f', { slot: 1, size: 1, isLike })
    habits.merge({ partition: 5, habits: [{ service: 'a/y', finding: 'f', bursts: [[1, 2, 3]] }] })
    expect(habits.takeChanged()).to.deep.equal([{ partition: 4, habits: [{ service: 'a/x', finding: 'f', bursts: [[1, 1, 1]] }] }])
    expect(habits.takeChanged()).to.deep.equal([])
  })

  it('are bounded: a tenant with findings without end costs the others none', () => {
    const habits = new Habits()
    const find = (service: string, finding: string) => habits.of(0, service)(finding, { slot: 1, size: 1, isLike })
    for (let at = 0; at < 100; at++) find(`small/${at}`, 'f')
    for (let at = 0; at < 5_000; at++) find('loud/x', `${at}`)
    const { habits: kept } = habits.keptOf(0)
    expect(kept).to.have.length(MAX_HABITS)
    expect(kept.filter(({ service }) => service.startsWith('small/'))).to.have.length(100)
    expect(JSON.stringify(kept).length).to.be.below(64 * 1024)
    find(`small/${'x'.repeat(300)}`, 'f')
    expect(habits.keptOf(0).habits).to.have.length(MAX_HABITS - 1)
  })

  it('whatever is stored is read for what it is', () => {
    const right = { service: 'a/x', finding: 'f', bursts: [[1, 2, 3]] }
    for (const wrong of [null, 7, {}, { ...right, service: 'x' }, { ...right, bursts: [[2, 1, 3]] }, { ...right, bursts: [[1, 2]] }])
      expect(readKeptHabits([wrong, right])).to.deep.equal([right])
    for (const none of [undefined, null, 'x', {}]) expect(readKeptHabits(none)).to.deep.equal([])
  })

  it('a finding is the same in any process, and another for other words', () => {
    expect(findingId('problem', 'cart', 'cart')).to.equal(findingId('problem', 'cart', 'cart'))
    expect(findingId('problem', 'cart', 'cart')).not.to.equal(findingId('problem', 'cart c', 'art'))
  })
})
