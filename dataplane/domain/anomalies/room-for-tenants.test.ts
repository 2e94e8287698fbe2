import { expect } from 'chai'
import { describe, it } from 'mocha'
import { RoomForTenants } from './room-for-tenants.ts'
import { SPEAKS } from './signals/signal.ts'
import { SignalEngine } from './signals/signal-engine.ts'
import { STEPS, traffic } from './signals/testing/steady-traffic.ts'
import { ServiceWindows } from './zscore.ts'

describe('the services that are remembered', () => {
  it('the one longest silent leaves: of all, or of the tenant of the new one, where that has three quarters of all', () => {
    const room = new RoomForTenants()
    for (const key of ['shop/cart', 'acme/a', 'acme/b', 'acme/c', 'acme/a']) room.hear(key)
    expect(room.leavesFor('shop/checkout', 'acme/b', 4)).to.equal('acme/b')
    expect(room.leavesFor('acme/d', 'shop/cart', 4)).to.equal('acme/b')
    expect(room.leavesFor('acme/b', 'shop/cart', 4)).to.equal('acme/c')
    room.remove('acme/b')
    expect(room.leavesFor('acme/d', 'shop/cart', 4)).to.equal('shop/cart')
  })

  it('keep the window of a service, however many services another tenant has', () => {
    const windows = new ServiceWindows({ anomalyThreshold: 2.5, windowSize: 50 }, 100)
    for (let i = 0; i < 10; i++) windows.observe('shop/cart', 0)
    for (let i = 0; i < 1_000; i++) windows.observe(`acme/job-${i}`, 0)
    expect(windows.observe('shop/cart', 1)).to.equal(10)
  })

  it('keep the window of a service that speaks all the time, however many others its own tenant has', () => {
    const windows = new ServiceWindows({ anomalyThreshold: 0.5, windowSize: 50 }, 100)
    windows.observe('shop/cart', 0)
    for (let i = 1; i < 500; i++) {
      windows.observe(`acme/job-${i}`, 0)
      const isOdd = i % 5 === 0
      const z = windows.observe('acme/web', isOdd ? 1 : 0)
      if (isOdd && i > 10) expect(z, `record ${i}`).to.be.above(0)
    }
  })

  it('keep the windows of a tenant, however much the windows of another hold', () => {
    const windows = new ServiceWindows({ anomalyThreshold: 2.5, windowSize: 100_000 }, 20_000)
    for (let i = 0; i < 10; i++) windows.observe('shop/cart', 0)
    for (let service = 0; service < 170; service++) for (let i = 0; i < 66_000; i++) windows.observe(`acme/${service}`, 0)
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
