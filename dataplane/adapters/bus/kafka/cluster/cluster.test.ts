import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFakeClock } from '../../../../testing/fake-clock.ts'
import { withDefaults } from '../both-clients/kafka-config.ts'
import { Cluster } from './cluster.ts'

const HOUR_MS = 3_600_000
const PATIENCE_MS = 60_000

describe('requests that are tried again', () => {
  it('say how long was waited, in whole milliseconds', async () => {
    const clock = { ...createFakeClock(), monotonicMs: () => 0.7 }
    const cluster = new Cluster(withDefaults({ brokers: [], topics: [], clock }))
    const error = await cluster.retry(20, 'asking', () => new Promise(() => undefined)).catch((failure: Error) => failure)
    expect((error as Error).message).to.equal('asking: Kafka has not answered within 19 ms')
  })

  for (const [name, shiftMs] of [
    ['ahead', HOUR_MS],
    ['back', -HOUR_MS],
  ] as const)
    it(`end in their time when the time of day is set ${name}`, async () => {
      const clock = createFakeClock()
      const cluster = new Cluster(withDefaults({ brokers: [], topics: [], clock }))
      let lastMs = 0
      let isOver = false
      const work = async () => {
        lastMs = clock.monotonicMs!()
        throw new Error('gone')
      }
      const retried = cluster.retry(cluster.deadlineIn(PATIENCE_MS), 'asking', work).catch((error: unknown) => {
        isOver = true
        return error
      })
      clock.shiftTimeOfDay(shiftMs)
      for (let passedMs = 0; passedMs < 2 * PATIENCE_MS && !isOver; passedMs += 500) {
        clock.advance(500)
        await turn()
      }
      expect(isOver, 'it has ended').to.equal(true)
      expect(lastMs, 'ms until the last attempt').to.be.within(PATIENCE_MS - 2_000, PATIENCE_MS)
      expect(await retried).to.have.property('reason', 'unavailable')
    })
})
