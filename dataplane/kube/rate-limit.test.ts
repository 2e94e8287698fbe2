import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFakeClock } from '../testing/fake-clock.ts'
import { createRateLimit } from './rate-limit.ts'
import { eventually } from './testing/eventually.ts'

describe('Rate limit', () => {
  it('lets a burst through and then so many a second, in order', async () => {
    const clock = createFakeClock()
    const limit = createRateLimit({ perSecond: 50, burst: 3 }, clock)
    const passed: number[] = []
    for (const n of [1, 2, 3, 4, 5]) void limit.take().then(() => passed.push(n))
    await eventually('the burst', () => passed.length === 3)
    clock.advance(19)
    expect(passed).to.deep.equal([1, 2, 3])
    clock.advance(1)
    await eventually('the fourth', () => passed.length === 4)
    clock.advance(20)
    await eventually('the fifth', () => passed.length === 5)
    expect(passed).to.deep.equal([1, 2, 3, 4, 5])
  })

  it('goes on evenly when the time of day is set back', async () => {
    const clock = createFakeClock()
    const limit = createRateLimit({ perSecond: 50, burst: 1 }, clock)
    await limit.take()
    let hasPassed = false
    void limit.take().then(() => (hasPassed = true))
    clock.shiftTimeOfDay(-3_600_000)
    clock.advance(20)
    await eventually('the second', () => hasPassed)
  })

  it('takes no more than 50 + burst in any second', async () => {
    const clock = createFakeClock()
    const limit = createRateLimit({ perSecond: 50, burst: 100 }, clock)
    let passed = 0
    for (let n = 0; n < 300; n++) void limit.take().then(() => passed++)
    await eventually('the burst', () => passed === 100)
    for (const expected of [150, 200, 250]) {
      clock.advance(1000)
      await eventually(`${expected} requests`, () => passed === expected)
    }
  })

  it('gives the place back of who went away', async () => {
    const clock = createFakeClock()
    const limit = createRateLimit({ perSecond: 1, burst: 1 }, clock)
    await limit.take()
    const cut = new AbortController()
    const gone = limit.take(cut.signal)
    cut.abort()
    await gone
    clock.advance(1000)
    await limit.take()
  })
})
