import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { CONFIG_INDEX } from '../../contract/indices.ts'
import type { KeptHabits } from '../../domain/anomalies/signals/habits.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../testing/memory-search-store.ts'
import { createHabitKeeper, type HabitKeeper } from './habit-keeper.ts'

const ID = 'habits:enriched-logs:2'
const turns = async () => {
  for (let i = 0; i < 10; i++) await new Promise(setImmediate)
}
const kept = (...bursts: readonly (readonly [number, number, number])[]): KeptHabits => ({
  partition: 2,
  habits: [{ service: 'acme/cart', finding: 'f', bursts }],
})

describe('habits kept over restarts', () => {
  let store: MemorySearchStore
  let clock: FakeClock
  let stopping: AbortController
  beforeEach(() => {
    store = createMemorySearchStore()
    clock = createFakeClock()
    stopping = new AbortController()
  })
  const newKeeper = () => createHabitKeeper({ store, topic: 'enriched-logs', clock, log: SILENT, signal: stopping.signal })
  const stored = () => store.documents(CONFIG_INDEX).get(ID)?.['habits']
  const loaded = async (keeper: HabitKeeper) => {
    const taken: KeptHabits[] = []
    await keeper.load([2, 2], each => taken.push(each))
    return taken
  }

  it('are there for whoever has the partition next, each once', async () => {
    const keeper = newKeeper()
    expect(await loaded(keeper)).to.deep.equal([{ partition: 2, habits: [] }])
    keeper.save([kept([1, 2, 3])])
    await keeper.settled()
    const next = newKeeper()
    expect(await loaded(next)).to.deep.equal([kept([1, 2, 3])])
    expect(await loaded(next)).to.deep.equal([])
    next.forget()
    expect(await loaded(next)).to.deep.equal([kept([1, 2, 3])])
  })

  it('are written once a minute, and when the work ends', async () => {
    const keeper = newKeeper()
    for (let slot = 2; slot < 5; slot++) {
      keeper.save([kept([1, slot, 3])])
      await turns()
    }
    expect(stored()).to.deep.equal(kept([1, 2, 3]).habits)
    clock.advance(60_000)
    await turns()
    expect(stored()).to.deep.equal(kept([1, 4, 3]).habits)
    keeper.save([kept([1, 5, 3])])
    stopping.abort()
    await keeper.settled()
    expect(stored()).to.deep.equal(kept([1, 5, 3]).habits)
  })

  it('of a partition that comes back are those that wait to be written, too', async () => {
    const keeper = newKeeper()
    keeper.save([kept([1, 2, 3])])
    await turns()
    keeper.save([kept([1, 2, 3], [200, 201, 3])])
    keeper.forget()
    expect(await loaded(keeper)).to.deep.equal([kept([1, 2, 3], [200, 201, 3])])
  })

  it('of two that write are both kept', async () => {
    const [before, after] = [newKeeper(), newKeeper()]
    await Promise.all([loaded(before), loaded(after)])
    after.save([kept([200, 201, 5])])
    await after.settled()
    before.save([kept([1, 2, 3])])
    await before.settled()
    expect(stored()).to.deep.equal(kept([1, 2, 3], [200, 201, 5]).habits)
    after.save([kept([200, 201, 5], [400, 400, 4])])
    clock.advance(60_000)
    await after.settled()
    expect(stored()).to.deep.equal(kept([1, 2, 3], [200, 201, 5], [400, 400, 4]).habits)
  })

  it('of a store that does not answer nobody waits for; they come when it does', async () => {
    const keeper = newKeeper()
    keeper.save([kept([1, 2, 3])])
    await keeper.settled()
    store.unavailable = true
    const next = newKeeper()
    const taken: KeptHabits[] = []
    const loading = next.load([2], each => taken.push(each))
    await turns()
    clock.advance(3_000)
    await loading
    expect(taken).to.deep.equal([])
    next.save([kept([200, 201, 3])])
    await turns()
    store.unavailable = false
    clock.advance(10_000)
    await turns()
    expect(taken).to.deep.equal([kept([1, 2, 3], [200, 201, 3])])
    clock.advance(60_000)
    await next.settled()
    expect(stored()).to.deep.equal(kept([1, 2, 3], [200, 201, 3]).habits)
  })

  it('of partitions that have left are not handed over late', async () => {
    store.unavailable = true
    const keeper = newKeeper()
    const taken: KeptHabits[] = []
    const loading = keeper.load([2], each => taken.push(each))
    await turns()
    clock.advance(3_000)
    await loading
    keeper.forget()
    store.unavailable = false
    clock.advance(10_000)
    await turns()
    expect(taken).to.deep.equal([])
  })

  it('a stop does not wait for a store that is away', async () => {
    store.unavailable = true
    const keeper = newKeeper()
    keeper.save([kept([1, 2, 3])])
    stopping.abort()
    await keeper.settled()
    expect(stored()).to.equal(undefined)
  })
})
