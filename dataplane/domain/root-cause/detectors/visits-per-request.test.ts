import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, type Line, shop, traffic, USUAL } from '../../../testing/root-cause-fixture.ts'
import { observeSystem } from '../observed/observed-system.ts'
import { findVisits } from './visits-per-request.ts'

function visitsOf(lines: (i: number) => readonly Line[]) {
  const system = finish(observeSystem(shop(lines), AT_MS))
  return new Map(
    [...finish(findVisits(system, { recovered: new Set() }))].map(([service, { hints }]) => [system.services[service]!, hints[0]!.tell()]),
  )
}
const withoutPayments = USUAL.filter(({ service }) => service !== 'payments')

describe('detector: visits per request', () => {
  it('finds nothing where requests reach the same services', () => expect(visitsOf(() => USUAL).size).to.equal(0))

  it('finds a service that half of the requests no longer reach, with traces that should have', () => {
    const found = visitsOf(i => (i % 2 === 0 ? USUAL : withoutPayments))
    expect([...found.keys()]).to.deep.equal(['payments'])
    const { kind, count, samples } = found.get('payments')!
    expect({ kind, count }).to.deep.equal({ kind: 'silence', count: 60 })
    expect([...samples()]).to.have.length(60)
  })

  it('compares requests of one kind alone: more of another kind is no silence', () => {
    const health: readonly Line[] = [{ service: 'gateway', says: 'health asked', afterMs: 0 }]
    expect(visitsOf(i => (i % 4 === 0 ? USUAL : health)).size).to.equal(0)
  })

  it('finds no more than the baseline shows with and without requests of errors that stopped', () => {
    const records = (now: number) => [
      ...traffic({ from: -1, to: 0, perMinute: 30, lines: i => (i % 3 === 0 ? withoutPayments : USUAL) }),
      ...traffic({ from: 0, to: 1, perMinute: 30, lines: i => (i < now ? withoutPayments : USUAL) }),
    ]
    const shiftsOf = (now: number) => {
      const system = finish(observeSystem(records(now), AT_MS))
      const payments = system.services.indexOf('payments')
      const recovered = new Set(system.baseline.requests.filter(({ visits }) => visits.every(({ type }) => type.service !== payments)))
      expect(recovered.size).to.equal(10)
      return [...finish(findVisits(system, { recovered })).values()].flatMap(({ hints }) => hints.map(({ tell }) => tell().text))
    }
    expect(shiftsOf(10)).to.deep.equal([])
    expect(shiftsOf(5)).to.deep.equal([])
    expect(shiftsOf(15)).to.deep.equal(['reached by fewer requests: 15 of 30 come to “card charged”, 20 expected'])
  })
})
