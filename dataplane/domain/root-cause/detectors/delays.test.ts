import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, type Line, rootCauseOf, shop, traffic, USUAL } from '../../../testing/root-cause-fixture.ts'
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

  it('blames the caller where others call the same service as quickly as ever', () => {
    const line = (service: string, says: string, afterMs = 8) => ({ service, says, afterMs })
    const request = (slowMs: number) => [
      ...[line('gateway', 'order received'), line('stock', 'checking stock'), line('db', 'query executed', 8 + slowMs)],
      ...[line('stock', 'stock checked'), line('payments', 'charging card'), line('db', 'query executed')],
      ...[line('payments', 'card charged'), line('gateway', 'order answered')],
    ]
    const found = (slowMs: number, othersMs: number) => {
      const lines = request(slowMs).map((each, at) => (at === 5 ? { ...each, afterMs: each.afterMs + othersMs } : each))
      const observations = [
        ...traffic({ from: -15, to: 0, perMinute: 40, lines: () => request(0) }),
        ...traffic({ from: 0, to: 3, perMinute: 40, lines: () => lines }),
      ]
      // Each query is a call of its own.
      const apart = observations.map(each => (/ 5$/.test(each.logId) ? { ...each, spanId: `${each.spanId} again` } : each))
      return rootCauseOf(apart).candidates[0]?.service
    }
    expect(found(900, 0)).to.equal('stock')
    expect(found(900, 900)).to.equal('db')
  })

  it('tells how long it takes and took, with the slowest records as samples', () => {
    const [first] = delaysOf(line => (line.says === 'receipt written' ? { ...line, afterMs: 2_000 } : line))
    const { kind, text, samples } = first!.hints[0]!.tell()
    expect([first!.service, kind]).to.deep.equal(['payments', 'delay'])
    expect(text).to.match(/^slower within payments: 2 s between records of a trace \(median of 120\), 6 ms before$/)
    expect([...samples()][0]!.source.pattern).to.equal('receipt written')
  })
})
