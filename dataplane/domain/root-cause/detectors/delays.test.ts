import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, type Line, shop, USUAL } from '../../../testing/root-cause-fixture.ts'
import { observeSystem } from '../observed/observed-system.ts'
import { findDelays } from './delays.ts'

function delaysOf(change: (line: Line, i: number) => Line) {
  const system = finish(
    observeSystem(
      shop(i => USUAL.map(line => change(line, i))),
      AT_MS,
    ),
  )
  const findings = finish(findDelays(system))
  return [...findings]
    .map(([service, { score, hints }]) => ({ service: system.services[service]!, score, hints }))
    .sort((a, b) => b.score - a.score)
}

describe('detector: delays', () => {
  it('finds next to nothing where all is as fast as before', () => {
    for (const { score } of delaysOf(line => line)) expect(score).to.be.below(3)
  })

  it('blames the service whose ways in, out and within are all slower', () => {
    const [first] = delaysOf(line => (line.service === 'payments' || line.says === 'order answered' ? { ...line, afterMs: 300 } : line))
    expect(first?.service).to.equal('payments')
  })

  it('tells how long it takes and took, with the slowest records as samples', () => {
    const [first] = delaysOf(line => (line.says === 'receipt written' ? { ...line, afterMs: 2_000 } : line))
    const { kind, text, samples } = first!.hints[0]!.tell()
    expect([first!.service, kind]).to.deep.equal(['payments', 'delay'])
    expect(text).to.match(/^slower within payments: 2 s between records of a trace \(median of 120\), 6 ms before$/)
    expect([...samples()][0]!.source.pattern).to.equal('receipt written')
  })
})
