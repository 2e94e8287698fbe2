import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { startPollLoop } from './poll-loop.ts'

describe('work that is looked for again and again', () => {
  const start = (round: () => Promise<number | undefined>) => {
    const clock = createFakeClock()
    let rounds = 0
    const loop = startPollLoop({
      clock,
      log: SILENT,
      name: 'test',
      idleMs: 1_000,
      round: () => {
        rounds++
        return round()
      },
    })
    const wait = async (ms: number) => {
      clock.advance(ms)
      for (let i = 0; i < 10; i++) await nextTurn()
      return rounds
    }
    return { loop, wait }
  }

  it('begins at once, pauses, and begins at once when it is asked to', async () => {
    const { loop, wait } = start(async () => undefined)
    expect(await wait(0)).to.equal(1)
    expect(await wait(999)).to.equal(1)
    expect(await wait(1)).to.equal(2)
    loop.nudge()
    expect(await wait(0)).to.equal(3)
    await loop.stop()
    expect(await wait(5_000)).to.equal(3)
  })

  it('a nudge during a round is not lost', async () => {
    let release: () => void = () => undefined
    const { loop, wait } = start(
      () =>
        new Promise(resolve => {
          release = () => resolve(undefined)
        }),
    )
    await wait(0)
    loop.nudge()
    release()
    expect(await wait(0)).to.equal(2)
    release()
    await loop.stop()
  })

  it('a round may say when the next one is to begin', async () => {
    const { loop, wait } = start(async () => 50)
    await wait(0)
    expect(await wait(50)).to.equal(2)
    await loop.stop()
  })

  it('a round that fails is tried again, more rarely each time', async () => {
    const { loop, wait } = start(async () => Promise.reject(new Error('away')))
    await wait(0)
    expect(await wait(500)).to.equal(2)
    expect(await wait(500)).to.equal(2)
    expect(await wait(500)).to.equal(3)
    await loop.stop()
  })
})
