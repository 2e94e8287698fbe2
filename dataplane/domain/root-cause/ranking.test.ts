import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, observation, shop, USUAL } from '../../testing/root-cause-fixture.ts'
import { rankCauses } from './find-root-cause.ts'
import type { Observation } from './observed/observation.ts'
import { causeOf } from './ranking.ts'

/** A service without traces: a line each second for ten minutes, and `count` new errors in the window. */
function failing(service: string, count: number): readonly Observation[] {
  const lines = Array.from({ length: 600 }, (_, i) =>
    observation({ service, pattern: `${service} works`, timeMs: AT_MS - 600_000 + i * 1_000 }),
  )
  const errors = Array.from({ length: count }, (_, i) =>
    observation({ service, pattern: `${service} fails`, isError: true, timeMs: AT_MS + i * 1_000 }),
  )
  return [...lines, ...errors]
}
const brokenPayments = shop(() => [
  ...USUAL.slice(0, 3),
  { service: 'payments', says: 'card reader is gone', afterMs: 9, isError: true },
  { service: 'gateway', says: 'order answered', afterMs: 7 },
])
const servicesOf = (observations: readonly Observation[], services: readonly string[]) =>
  causeOf(finish(rankCauses({ observations, atMs: AT_MS })), services).candidates.map(({ service }) => service)

describe('the cause that an incident takes from a ranking', () => {
  it('is of its own service where no request ties others to it', () => {
    const observations = Array.from('abcdefgh', (name, i) => failing(`service-${name}`, 60 - 4 * i)).flat()
    expect(servicesOf(observations, [])[0]).to.equal('service-a')
    for (const service of ['service-a', 'service-d', 'service-h']) {
      const [first, ...others] = servicesOf(observations, [service])
      expect(first).to.equal(service)
      expect(others).to.have.length(4)
    }
  })

  it('stays with a service that its errors name', () => {
    const caller = failing('orders', 60).map(one =>
      one.isError ? { ...one, pattern: 'no answer of ledger', template: 'no answer of ledger' } : one,
    )
    const observations = [...caller, ...failing('ledger', 10), ...failing('mailer', 100)]
    expect(servicesOf(observations, ['orders']).slice(0, 2)).to.deep.equal(['ledger', 'orders'])
  })

  it('is one that nothing ties to it, where that says why it fails and its own services only complain of others', () => {
    const saying = (service: string, count: number, pattern: string) =>
      failing(service, count).map(one => (one.isError ? { ...one, pattern, template: pattern } : one))
    const full = saying('orders-db', 30, 'no space left on device')
    const complaining = saying('orders', 60, 'pq: could not extend file')
    expect(servicesOf([...full, ...complaining], ['orders'])[0]).to.equal('orders-db')
    expect(servicesOf([...full, ...saying('orders', 60, 'stock is negative')], ['orders'])[0]).to.equal('orders')
  })

  it('is none that nothing ties to it, and that began to fail long after it, however many did', () => {
    const begun = (service: string, pattern: string, afterMs: number) =>
      Array.from({ length: 3 }, (_, i) =>
        observation({ service, pattern, template: pattern, isError: true, timeMs: AT_MS + afterMs + i * 1_000 }),
      )
    const refused = begun('orders', 'payment failed: connection refused', 2_000)
    const dying = (count: number, afterMs: number) =>
      Array.from({ length: count }, (_, i) => begun(`service-${i}`, 'OutOfMemory', afterMs)).flat()
    for (const count of [3, 200]) {
      const found = (afterMs: number) => {
        const observations = [...shop(() => USUAL), ...refused, ...dying(count, afterMs)]
        const { candidates } = causeOf(finish(rankCauses({ observations, atMs: AT_MS })), ['orders'], AT_MS + 2_000)
        return candidates.map(({ service }) => service)
      }
      expect(found(10_000), `${count}`).to.include('service-0')
      expect(found(60_000), `${count}`).to.deep.equal(['orders'])
    }
  })

  it('has scores that never rise along its candidates', () => {
    const observations = [...brokenPayments, ...failing('mailer', 150)]
    const { candidates } = causeOf(finish(rankCauses({ observations, atMs: AT_MS })), ['gateway'])
    const scores = candidates.map(({ score }) => score)
    expect(candidates.map(({ service }) => service)).to.include('mailer')
    expect(scores).to.deep.equal([...scores].sort((a, b) => b - a))
  })

  it('stays with a service that requests tie to the incident, however loud another one is', () => {
    const observations = [...brokenPayments, ...failing('mailer', 150)]
    expect(servicesOf(observations, ['gateway'])[0]).to.equal('payments')
    expect(servicesOf(observations, ['mailer'])[0]).to.equal('mailer')
  })

  it('is that of the whole time where nothing is seen of the incident’s services', () => {
    const observations = failing('mailer', 30)
    expect(servicesOf(observations, ['nobody'])).to.deep.equal(servicesOf(observations, []))
  })
})
