import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, type Line, shop, USUAL } from '../../testing/root-cause-fixture.ts'
import { observeSystem } from './observed-system.ts'
import { findVisits } from './visits-per-request.ts'

function visitsOf(lines: (i: number) => readonly Line[]) {
  const system = finish(observeSystem(shop(lines), AT_MS))
  return new Map([...finish(findVisits(system))].map(([service, { hints }]) => [system.services[service]!, hints[0]!.tell()]))
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
})
