import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, type Line, rootCauseOf, traffic } from '../../../testing/root-cause-fixture.ts'
import type { Observation } from '../observed/observation.ts'
import { observeSystem } from '../observed/observed-system.ts'
import { findCutOff } from './cut-off.ts'

const line = (service: string, says: string): Line => ({ service, says, afterMs: 6 })
const error = (service: string, says: string): Line => ({ service, says, afterMs: 400, isError: true })
/** `gateway` asks `logins`, and then `orders`. */
const SHOP: readonly Line[] = [
  line('gateway', 'order received'),
  line('logins', 'checking session'),
  line('logins', 'session is valid'),
  line('orders', 'order checked'),
  line('orders', 'order stored'),
  line('gateway', 'order answered'),
]
/** Its cache, which writes no logs here, does not answer. */
const WITHOUT_CACHE = [...SHOP.slice(0, 2), error('logins', 'dial tcp <*>: connect: connection refused'), error('gateway', 'status <*>')]
const WITHOUT_ORDERS = [...SHOP.slice(0, 3), error('logins', 'dial tcp <*>: connect: connection refused'), error('gateway', 'status <*>')]

const given = (lines: readonly Line[], hasTraces: boolean): readonly Observation[] =>
  [
    ...traffic({ from: -15, to: 0, perMinute: 40, lines: () => SHOP }),
    ...traffic({ from: 0, to: 3, perMinute: 40, lines: () => lines }),
  ].map(each => (hasTraces ? each : { ...each, traceId: '', spanId: '' }))

describe('services that are silent because another one fails too early', () => {
  for (const hasTraces of [true, false]) {
    const asked = (lines: readonly Line[]) => {
      const system = finish(observeSystem(given(lines, hasTraces), AT_MS))
      const of = (...names: readonly string[]) => new Set(names.map(name => system.services.indexOf(name)))
      const risen = new Set(system.kinds.filter(({ isError }) => isError))
      const isCutOff = findCutOff(system, { services: of('logins', 'gateway'), others: of('orders'), risen })
      return (service: string) => isCutOff(system.services.indexOf(service), system.services.indexOf('orders'))
    }

    describe(hasTraces ? 'with trace ids' : 'without trace ids', () => {
      it('are those that requests reach after words which it does not come to', () => {
        expect(asked(WITHOUT_CACHE)('logins')).to.equal(true)
        expect(asked(WITHOUT_ORDERS)('logins')).to.equal(false)
      })

      it('are not those that are called right behind what it still says', () => {
        expect(asked(WITHOUT_CACHE)('gateway')).to.equal(false)
      })

      it('are not what it waits for', () => {
        expect(rootCauseOf(given(WITHOUT_CACHE, hasTraces)).candidates[0]?.service).to.equal('logins')
      })
    })
  }

  it('are none where nobody is silent, or nobody fails', () => {
    const system = finish(observeSystem(given(SHOP, true), AT_MS))
    const isCutOff = findCutOff(system, { services: new Set([0, 1]), others: new Set([2]), risen: new Set() })
    expect([isCutOff(0, 2), isCutOff(1, 2), isCutOff(5, 7)]).to.deep.equal([false, false, false])
  })
})
