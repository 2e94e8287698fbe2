import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, shop, USUAL } from '../../testing/root-cause-fixture.ts'
import { findCallees } from './callees.ts'
import { observeSystem } from './observed-system.ts'

it('a service calls the one that first shows up after it in a trace', () => {
  const { services, baseline } = finish(
    observeSystem(
      shop(() => USUAL),
      AT_MS,
    ),
  )
  const calls = findCallees(baseline, services.length)
  const [gateway, orders, payments] = ['gateway', 'orders', 'payments'].map(name => services.indexOf(name)) as [number, number, number]
  expect([calls(gateway, orders), calls(orders, payments), calls(payments, orders), calls(payments, gateway)]).to.deep.equal([
    true,
    true,
    false,
    false,
  ])
})

describe('callees', () => {
  it('nobody calls anybody where there are no traces', () => {
    expect(findCallees({ requests: [], untraced: [], firstMs: Number.NaN, lastMs: Number.NaN }, 2)(0, 1)).to.equal(false)
  })
})
