import { expect } from 'chai'
import { describe, it } from 'mocha'
import { RoomForTenants } from './room-for-tenants.ts'
import { SPEAKS } from './signals/signal.ts'
import { SignalEngine } from './signals/signal-engine.ts'
import { STEPS, traffic } from './signals/testing/steady-traffic.ts'
import { ServiceWindows } from './zscore.ts'

describe('the services that are remembered', () => {
  it('the one longest silent leaves, unless the tenant of the new one has more than three quarters of all', () => {
    const room = new RoomForTenants()
    for (const key of ['shop/cart', 'acme/a', 'acme/b', 'acme/c']) room.add(key)
    expect(room.leavesFor('shop/checkout', 'acme/a', 4)).to.equal('acme/a')
    expect(room.leavesFor('acme/d', 'acme/b', 4)).to.equal('acme/b')
    expect(room.leavesFor('acme/d', 'shop/cart', 4)).to.equal('acme/a')
    room.remove('acme/a')
    expect(room.leavesFor('acme/d', 'shop/cart', 4)).to.equal('shop/cart')
  })

  it('keep the window of a service, however many services another tenant has', () => {
    const windows = new ServiceWindows({ anomalyThreshold: 2.5, windowSize: 50 }, 100)
    for (let i = 0; i < 10; i++) windows.observe('shop/cart', 0)
    for (let i = 0; i < 1_000; i++) windows.observe(`acme/job-${i}`, 0)
    expect(windows.observe('shop/cart', 1)).to.equal(10)
  })

  it('keep the signals of a service, however many services another tenant has', () => {
    const engine = new SignalEngine<{ readonly key: string }, never>(() => undefined)
    for (const record of traffic(0, 28)) engine.observe({ key: 'shop/cart' }, record)
    const [one] = traffic(27, 28, { perSlot: 1 })
    for (let i = 0; i < 10_100; i++) engine.observe({ key: `acme/job-${i}` }, one!)
    const spoke = traffic(28, 31, { steps: STEPS.slice(0, 2) }).flatMap(
      record => engine.observe({ key: 'shop/cart' }, record)?.findings ?? [],
    )
    expect(spoke.some(({ z }) => z >= SPEAKS)).to.equal(true)
  })
})
