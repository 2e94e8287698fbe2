import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { manualRun, scheduledRun } from '../../domain/features/feature-run.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../testing/memory-search-store.ts'
import { createRunStore, type RunStore } from './run-store.ts'
import { nextRun, type Schedule, startSchedule } from './schedule.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const at = (time: string) => Date.parse(`2026-11-21T${time}:00Z`)

const settle = async () => {
  for (let i = 0; i < 20; i++) await new Promise(resolve => setImmediate(resolve))
}

describe('feature_compute runs hourly', () => {
  let clock: FakeClock
  let store: MemorySearchStore
  let runs: RunStore
  let computed: string[]
  let fails: (hour: string) => boolean
  let isSlow: boolean
  let schedules: Schedule[]
  beforeEach(() => {
    clock = createFakeClock(at('16:30'))
    store = createMemorySearchStore()
    runs = createRunStore(store)
    computed = []
    fails = () => false
    isSlow = false
    schedules = []
  })
  afterEach(() => Promise.all(schedules.map(schedule => schedule.stop())))

  const start = async () => {
    const schedule = startSchedule({
      runs,
      clock,
      log: SILENT,
      async compute(hourMs, signal) {
        if (isSlow) {
          await clock.sleep(HOUR, signal)
          signal.throwIfAborted()
        }
        const hour = new Date(hourMs).toISOString().slice(11, 16)
        if (fails(hour)) throw new Error('no')
        computed.push(hour)
        return { written: 0, removed: 0, kept: 0 }
      },
    })
    schedules.push(schedule)
    await settle()
    return schedule
  }
  const pass = async (ms: number, stepMs = MINUTE) => {
    for (let left = ms; left > 0; left -= stepMs) {
      clock.advance(Math.min(stepMs, left))
      await settle()
    }
  }
  const states = async () =>
    (await runs.list({ filters: [], sort: [{ queued_at: 'asc' }], offset: 0, limit: 100 })).runs.map(({ state }) => state)

  it('the schedule is the start of each hour, UTC', () => {
    expect(nextRun(at('16:30'))).to.equal(at('17:00'))
    expect(nextRun(at('17:00'))).to.equal(at('18:00'))
  })

  it('at the start the last full hour, then each hour a minute after its end', async () => {
    await start()
    expect(computed).to.deep.equal(['15:00'])
    await pass(30 * MINUTE)
    expect(computed).to.deep.equal(['15:00'])
    await pass(MINUTE)
    expect(computed).to.deep.equal(['15:00', '16:00'])
    await pass(3 * HOUR, 5 * MINUTE)
    expect(computed).to.deep.equal(['15:00', '16:00', '17:00', '18:00', '19:00'])
    expect(await states()).to.deep.equal(Array(5).fill('success'))
  })

  it('an hour is computed once, also by two schedulers and after a restart', async () => {
    const [first] = await Promise.all([start(), start()])
    await first.stop()
    await start()
    await pass(2 * HOUR, 5 * MINUTE)
    expect(computed).to.deep.equal(['15:00', '16:00', '17:00'])
  })

  it('after a pause it catches up with the hours that were left out, at most 24', async () => {
    const first = await start()
    await first.stop()
    clock.advance(3 * HOUR)
    const second = await start()
    expect(computed).to.deep.equal(['15:00', '16:00', '17:00', '18:00'])
    await second.stop()
    clock.advance(48 * HOUR)
    await start()
    expect(computed).to.have.length(4 + 24)
  })

  it('while paused nothing runs; resumed it catches up', async () => {
    await runs.setPaused(true, clock.nowMs())
    const schedule = await start()
    await pass(2 * HOUR, 5 * MINUTE)
    expect(computed).to.deep.equal([])
    await runs.setPaused(false, clock.nowMs())
    schedule.wake()
    await settle()
    expect(computed).to.deep.equal(['17:00'])
  })

  it('paused while a run is under way, those behind it stay queued', async () => {
    const schedule = await start()
    isSlow = true
    for (const logicalMs of [at('16:10'), at('16:20')]) await runs.create(manualRun({ logicalMs }, clock.nowMs()))
    schedule.wake()
    await settle()
    await runs.setPaused(true, clock.nowMs())
    await pass(HOUR)
    expect(await states()).to.deep.equal(['success', 'success', 'queued'])
    isSlow = false
    await runs.setPaused(false, clock.nowMs())
    schedule.wake()
    await settle()
    expect((await states()).slice(0, 3)).to.deep.equal(['success', 'success', 'success'])
  })

  it('what is asked for by hand runs at once', async () => {
    const schedule = await start()
    await runs.create(manualRun({}, clock.nowMs()))
    schedule.wake()
    await settle()
    expect(computed).to.deep.equal(['15:00', '15:00'])
  })

  it('a clock that is set an hour forth is noticed within a minute', async () => {
    await start()
    clock.advance(HOUR)
    await settle()
    expect(computed).to.deep.equal(['15:00', '16:00'])
  })

  it('a failed hour is tried again, and holds the next one not up', async () => {
    clock.advance(20 * MINUTE)
    fails = hour => hour === '15:00'
    await start()
    await pass(MINUTE, 5_000)
    expect(await states()).to.deep.equal(['running'])
    await pass(10 * MINUTE)
    expect(computed).to.deep.equal(['16:00'])
    fails = () => false
    await pass(6 * MINUTE, 5_000)
    expect(computed).to.deep.equal(['16:00', '15:00'])
    expect(await states()).to.deep.equal(['success', 'success'])
  })

  it('a scheduler that is told to stop gives the run back, for the next one to do at once', async () => {
    isSlow = true
    const first = await start()
    expect(await states()).to.deep.equal(['running'])
    await first.stop()
    expect([computed, await states()]).to.deep.equal([[], ['queued']])
    isSlow = false
    await start()
    expect([computed, await states()]).to.deep.equal([['15:00'], ['success']])
  })

  it('waits for a search store that is away', async () => {
    store.unavailable = true
    const schedule = await start()
    await pass(MINUTE, 5_000)
    expect([computed, schedule.heartbeatMs()]).to.deep.equal([[], undefined])
    store.unavailable = false
    await pass(5_000, 5_000)
    expect(computed).to.deep.equal(['15:00'])
  })

  it('a run whose scheduler died is taken over when its lease ends', async () => {
    const first = await start()
    await first.stop()
    clock.advance(HOUR)
    await runs.create(scheduledRun(at('16:00'), clock.nowMs()))
    const dead = await runs.claimNext(clock.nowMs())
    expect(dead?.run.tries).to.equal(1)
    await start()
    await pass(4 * MINUTE)
    expect(computed).to.deep.equal(['15:00'])
    await pass(2 * MINUTE)
    expect(computed).to.deep.equal(['15:00', '16:00'])
  })
})
