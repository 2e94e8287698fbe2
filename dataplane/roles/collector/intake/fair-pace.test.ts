import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { createFakeClock, type FakeClock } from '../../../testing/fake-clock.ts'
import { FairPace, MAX_COUNTED_TENANTS, MAX_PACE_MS } from './fair-pace.ts'

const turn = () => new Promise(setImmediate)

describe('acknowledgements while records wait', () => {
  let clock: FakeClock
  let delayMs: number
  let pace: FairPace
  let isOver: boolean
  let setBackMs: number
  beforeEach(() => {
    clock = createFakeClock()
    delayMs = 3_000
    isOver = false
    setBackMs = 0
    const deps = { clock: { ...clock, nowMs: () => clock.nowMs() - setBackMs, monotonicMs: clock.nowMs }, delayMs: () => delayMs }
    pace = new FairPace(deps)
  })

  /** How long a request waits, ms. */
  async function waitOf(...tenants: string[]): Promise<number> {
    let isDone = false
    const turns = pace.turnsOf(
      () => new Set(tenants),
      () => isOver,
    )
    void Promise.resolve(turns.next()).then(() => {
      isDone = true
    })
    await turn()
    let waited = 0
    for (; !isDone; waited += 100) {
      clock.advance(100)
      if (waited === 1_000 && tenants.includes('until-better')) delayMs = 0
      await turn()
    }
    return waited
  }

  it('come at once to those who bring little, and later to who brings most', async () => {
    pace.note('loud', 1_000_000)
    pace.note('quiet', 20_000)
    expect(await waitOf('quiet')).to.equal(0)
    expect(await waitOf('quiet', 'loud')).to.equal(MAX_PACE_MS)
  })

  it('come as soon as records wait no longer', async () => {
    pace.note('until-better', 1_000_000)
    pace.note('quiet', 20_000)
    expect(await waitOf('until-better')).to.be.within(1_000, 1_200)
    expect(await waitOf('until-better')).to.equal(0)
  })

  it('come at once to a tenant that is alone, or alone again', async () => {
    pace.note('loud', 1_000_000)
    expect(await waitOf('loud')).to.equal(0)
    pace.note('quiet', 20_000)
    expect(await waitOf('loud')).to.be.above(0)
    for (let second = 0; second < 30; second++) {
      clock.advance(1_000)
      pace.note('loud', 1_000_000)
    }
    expect(await waitOf('loud')).to.equal(0)
  })

  it('come at once to a tenant that is alone again, also when the time of day was set back meanwhile', async () => {
    pace.note('loud', 1_000_000)
    pace.note('quiet', 20_000)
    expect(await waitOf('loud')).to.be.above(0)
    setBackMs = 3_600_000
    for (let second = 0; second < 30; second++) {
      clock.advance(1_000)
      pace.note('loud', 1_000_000)
    }
    expect(await waitOf('loud')).to.equal(0)
  })

  it('come once the bound is reached over all turns of a request', async () => {
    pace.note('loud', 1_000_000)
    pace.note('quiet', 20_000)
    const turns = pace.turnsOf(
      () => new Set(['loud']),
      () => false,
    )
    const first = turns.next()
    for (let at = 0; at < MAX_PACE_MS; at += 100) {
      clock.advance(100)
      await turn()
    }
    await first
    await turns.next()
    expect(clock.sleepers).to.equal(0)
  })

  it('come at once when the collector stops', async () => {
    pace.note('loud', 1_000_000)
    pace.note('quiet', 20_000)
    isOver = true
    expect(await waitOf('loud')).to.equal(0)
  })

  it('come later to many tenants that bring as much as each other, and at once to one among them that brings little', async () => {
    for (let i = 0; i < 100; i++) pace.note(`t-${i}`, 50_000)
    pace.note('quiet', 20_000)
    expect(await waitOf('quiet')).to.equal(0)
    expect(await waitOf('new')).to.equal(0)
    expect(await waitOf('t-7')).to.equal(MAX_PACE_MS)
  })

  it('come at once to those that bring as much as most, when some bring more', async () => {
    for (let i = 0; i < 10; i++) pace.note(`t-${i}`, 50_000)
    for (let i = 0; i < 3; i++) pace.note(`loud-${i}`, 300_000)
    expect(await waitOf('t-7')).to.equal(0)
    expect(await waitOf('loud-1')).to.equal(MAX_PACE_MS)
  })

  it('make up for no number of tenants: those beyond a bound count together, as one, and wait as one', async () => {
    pace.note('quiet', 20_000)
    for (let i = 0; i < 10 * MAX_COUNTED_TENANTS; i++) pace.note(`t-${i}`, 2_000)
    expect(await waitOf('quiet')).to.equal(0)
    expect(await waitOf(`t-${9 * MAX_COUNTED_TENANTS}`)).to.equal(MAX_PACE_MS)
  })
})
