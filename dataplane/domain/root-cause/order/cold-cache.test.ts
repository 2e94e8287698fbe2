import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, observation, rootCauseOf } from '../../../testing/root-cause-fixture.ts'
import type { Observation } from '../observed/observation.ts'

const saidAt = (seconds: number, service: string, pattern: string): Observation =>
  observation({ service, pattern, timeMs: AT_MS + seconds * 1_000, logId: `${service} ${seconds}` })

describe('a cache that starts cold', () => {
  const errors = Array.from({ length: 60 }, (_, i) =>
    observation({ service: 'orders-pg', timeMs: AT_MS + i * 2_000, pattern: 'FATAL: sorry, too many clients already', isError: true }),
  )
  const quiet = ['orders-pg', 'orders-redis'].flatMap(service =>
    Array.from({ length: 90 }, (_, i) => observation({ service, timeMs: AT_MS - 900_000 + i * 12_000, pattern: 'saved' })),
  )
  const causeAfter = (start: Observation) => rootCauseOf([...quiet, ...errors, start])

  it('comes before the database that is overrun because of it', () => {
    const { summary, candidates } = causeAfter(saidAt(-5, 'orders-redis', 'Ready to accept connections tcp'))
    expect(candidates.map(({ service }) => service)).to.deep.equal(['orders-redis', 'orders-pg'])
    expect(summary).to.match(
      /^Most likely orders-redis: started at 11:59:55 UTC \(“Ready to accept connections tcp”\), and then orders-pg was overrun: “sorry, too many clients already”/,
    )
  })

  it('does not, long before, or where another service started', () => {
    for (const start of [saidAt(-300, 'orders-redis', 'Ready to accept connections tcp'), saidAt(-5, 'mailer', 'Application started')])
      expect(causeAfter(start).candidates[0]?.service).to.equal('orders-pg')
  })
})
