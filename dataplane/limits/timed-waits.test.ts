import { expect } from 'chai'
import { describe, it } from 'mocha'
import { TimedWaits } from './timed-waits.ts'

describe('waits that may last equally long', () => {
  const late = (waits: TimedWaits) => {
    const { promise, resolve } = Promise.withResolvers<number>()
    const beganMs = performance.now()
    return { wait: waits.begin(() => resolve(performance.now() - beganMs)), promise }
  }

  it('are late after their time, each of them', async () => {
    const waits = new TimedWaits(15)
    const first = late(waits)
    while (performance.now() < first.wait.dueMs - 8) await new Promise(setImmediate)
    const second = late(waits)
    for (const lastedMs of await Promise.all([first.promise, second.promise])) expect(lastedMs).to.be.at.least(15)
  })

  it('are not late once they have ended, nor do they hold up those behind', async () => {
    const waits = new TimedWaits(5)
    let isLate = false
    const ended = waits.begin(() => {
      isLate = true
    })
    waits.end(ended)
    await late(waits).promise
    expect(isLate).to.equal(false)
  })

  it('begin anew when all before have ended', async () => {
    const waits = new TimedWaits(3)
    await late(waits).promise
    await late(waits).promise
  })
})
