import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, shop, USUAL } from '../../../testing/root-cause-fixture.ts'
import type { Observation } from '../observed/observation.ts'
import { type Kind, type ObservedRecord, observeSystem } from '../observed/observed-system.ts'
import { findCallees } from './callees.ts'

it('a service calls the one that first shows up after it in a trace', () => {
  const { services, baseline } = finish(
    observeSystem(
      shop(() => USUAL),
      AT_MS,
    ),
  )
  const { calls } = findCallees(baseline, services.length)
  const [gateway, orders, payments] = ['gateway', 'orders', 'payments'].map(name => services.indexOf(name)) as [number, number, number]
  expect([calls(gateway, orders), calls(orders, payments), calls(payments, orders), calls(payments, gateway)]).to.deep.equal([
    true,
    true,
    false,
    false,
  ])
})

const SOURCE: Observation = {
  timeMs: 0,
  service: '',
  traceId: 't',
  spanId: '',
  template: '',
  isError: false,
  logId: '',
  patternId: '',
  pattern: '',
}

describe('callees', () => {
  it('a service may call one that others of the trace called before, where neither first shows up after the other', () => {
    const statement = (service: number, id: number): Kind => ({
      id,
      service,
      pattern: `says ${id}`,
      patternId: String(id),
      errorTexts: [],
      called: [],
      queues: new Set(),
      isError: true,
      isDebug: false,
      isWarning: false,
    })
    const at = (kind: Kind, timeMs: number): ObservedRecord => ({ kind, timeMs, isError: false, source: SOURCE })
    const records = [statement(0, 0), statement(1, 1), statement(0, 2), statement(2, 3), statement(1, 4)].map(at)
    const visits = [[0, 2], [1], [3], [4]].map(own => ({ type: records[own[0]!]!.kind, records: own.map(place => records[place]!) }))
    const { calls, mayCall } = findCallees({ requests: [{ records, visits, hasErrors: false }] }, 3)
    expect([mayCall(2, 1), mayCall(1, 2), mayCall(0, 1), mayCall(1, 0)]).to.deep.equal([true, false, true, false])
    expect([calls(2, 1), calls(1, 2), calls(0, 1), calls(1, 0)]).to.deep.equal([false, false, true, false])
  })

  it('nobody calls anybody where there are no traces', () => {
    expect(findCallees({ requests: [] }, 2).mayCall(0, 1)).to.equal(false)
  })
})
