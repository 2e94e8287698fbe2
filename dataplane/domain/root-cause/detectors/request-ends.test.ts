import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, type Line, rootCauseOf, shop, traffic, USUAL } from '../../../testing/root-cause-fixture.ts'
import type { Observation } from '../observed/observation.ts'
import { observeSystem } from '../observed/observed-system.ts'
import { findEnds } from './request-ends.ts'

/** `payments` has one line a request, and `orders` goes on after it. */
const CALLS: readonly Line[] = [
  { service: 'gateway', says: 'order received', afterMs: 0 },
  { service: 'orders', says: 'order checked', afterMs: 8 },
  { service: 'payments', says: 'card charged', afterMs: 9 },
  { service: 'orders', says: 'order stored', afterMs: 12 },
  { service: 'gateway', says: 'order answered', afterMs: 7 },
]

const recordsOf = (lines: (i: number) => readonly Line[], before = CALLS) => [
  ...traffic({ from: -15, to: 0, perMinute: 40, lines: () => before }),
  ...traffic({ from: 0, to: 3, perMinute: 40, lines }),
]

function endsOf(records: readonly Observation[]) {
  const system = finish(observeSystem(records, AT_MS))
  return new Map([...finish(findEnds(system))].map(([service, { hints }]) => [system.services[service]!, hints[0]!.tell()]))
}

describe('detector: where requests end', () => {
  it('finds nothing where requests end as before', () => expect(endsOf(recordsOf(() => CALLS)).size).to.equal(0))

  it('finds the service after whose last words requests newly end, with these words', () => {
    const found = endsOf(recordsOf(i => (i % 2 === 0 ? CALLS.slice(0, 3) : CALLS)))
    expect([...found.keys()]).to.deep.equal(['payments'])
    const { kind, text, count, expected, samples } = found.get('payments')!
    expect({ kind, expected }).to.deep.equal({ kind: 'missing', expected: 0 })
    expect(count).to.be.within(58, 60)
    expect(text).to.match(/^requests end after “card charged”: \d\d of 1\d\d, 0 expected$/)
    expect([...samples()].every(({ kind: { pattern } }) => pattern === 'card charged')).to.equal(true)
  })

  it('leaves a visit that breaks off, and errors, to those that tell of them', () => {
    expect(endsOf(shop(() => USUAL.slice(0, 2))).size).to.equal(0)
    const failed = [...CALLS.slice(0, 2), { service: 'payments', says: 'card refused', afterMs: 9, isError: true }]
    expect(endsOf(recordsOf(() => failed)).size).to.equal(0)
  })

  it('looks at no request that may go on', () => {
    const records = recordsOf(() => CALLS)
    const lastMs = Math.max(...records.map(({ timeMs }) => timeMs))
    expect(endsOf(records.filter(({ timeMs, pattern }) => timeMs < lastMs - 1_000 || pattern === 'order received')).size).to.equal(0)
  })

  it('names the service behind those whose visits break off', () => {
    const { candidates } = rootCauseOf(recordsOf(() => CALLS.slice(0, 3)))
    expect(candidates.map(({ service }) => service)).to.deep.equal(['orders', 'gateway', 'payments'])
    expect(candidates[2]!.reasons[0]!.text).to.match(/^requests end after “card charged”/)
  })

  it('is silent where somebody says why', () => {
    const failing: readonly Line[] = [...CALLS.slice(0, 3), { service: 'orders', says: 'order not stored', afterMs: 3, isError: true }]
    const { candidates } = rootCauseOf(recordsOf(i => (i % 4 === 0 ? CALLS.slice(0, 3) : failing)))
    expect(candidates[0]!.service).to.equal('orders')
    expect(candidates.flatMap(({ reasons }) => reasons).filter(({ text }) => text.startsWith('requests end after'))).to.deep.equal([])
  })
})
