import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { type FeatureRow, type OnlineStore, OnlineStoreUnavailable } from '../../ports/online-store.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { createMemoryOnlineStore, type MemoryOnlineStore } from '../../testing/memory-online-store.ts'
import { createFeatureCache, type FeatureCache } from './feature-cache.ts'

/** Lets what is under way finish: nothing here waits for anything but the clock. */
const settle = () => new Promise(resolve => setImmediate(resolve))

describe('features for enrichment', () => {
  let clock: FakeClock
  let store: MemoryOnlineStore
  let stop: AbortController
  beforeEach(() => {
    clock = createFakeClock()
    store = createMemoryOnlineStore()
    stop = new AbortController()
  })
  afterEach(() => stop.abort())

  const row = (service: string, errorRate: number, more: Partial<FeatureRow> = {}): FeatureRow => ({
    tenant: 'acme',
    service,
    values: { ml_error_rate_1h: errorRate },
    eventMs: 0,
    writtenMs: clock.nowMs(),
    ...more,
  })
  const start = (open: () => Promise<OnlineStore> = async () => store, maxServices = 100): FeatureCache =>
    createFeatureCache({ open, clock, log: SILENT, signal: stop.signal, maxServices })
  const started = async (...args: Parameters<typeof start>) => {
    const cache = start(...args)
    await settle()
    return cache
  }
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 1_000) {
      clock.advance(Math.min(1_000, left))
      await settle()
    }
  }
  const rate = (cache: FeatureCache, service = 'checkout') => {
    const found = cache.lookup('acme', service)
    return typeof found === 'object' ? found.ml_error_rate_1h : found
  }

  it('are there once the store was read: those of the service, or none', async () => {
    await store.write([row('checkout', 0.3)])
    const cache = start()
    expect(rate(cache)).to.equal('unreachable')
    await cache.ready()
    expect(cache.lookup('acme', 'checkout')).to.deep.equal({
      ml_error_rate_1h: 0.3,
      ml_p99_latency_1h: 0,
      ml_request_rate_1h: 0,
      ml_anomaly_history_count: 0,
    })
    expect(rate(cache, 'cart')).to.equal(undefined)
    expect(cache.lookup('globex', 'checkout')).to.equal(undefined)
  })

  it('follow the store within a second', async () => {
    const cache = await started()
    await store.write([row('checkout', 0.3)])
    await pass(1_000)
    expect(rate(cache)).to.equal(0.3)
    await store.remove([row('checkout', 0)])
    await pass(1_000)
    expect(rate(cache)).to.equal(undefined)
  })

  it('what was written before a batch came is there for its records', async () => {
    const cache = await started()
    await store.write([row('checkout', 0.3)])
    await cache.fresh()
    expect(rate(cache)).to.equal(0.3)
    await store.write([row('checkout', 0.4)])
    await Promise.all([cache.fresh(), cache.fresh()])
    expect(rate(cache)).to.equal(0.4)
  })

  it('a batch waits 100 ms for the store, and the next ones not until it has answered', async () => {
    await store.write([row('checkout', 0.3)])
    let hangs: PromiseWithResolvers<string> | undefined
    const cache = await started(async () => ({ ...store, version: () => hangs?.promise ?? store.version() }))
    hangs = Promise.withResolvers()
    const waiting = cache.fresh()
    clock.advance(100)
    await waiting
    await cache.fresh()
    expect(rate(cache)).to.equal(0.3)
    hangs.resolve('none')
    hangs = undefined
    await settle()
    await store.write([row('checkout', 0.4)])
    await cache.fresh()
    expect(rate(cache)).to.equal(0.4)
  })

  it('no batch waits for a store that is away, or fails', async () => {
    store.unavailable = true
    const cache = await started()
    await cache.fresh()
    expect(rate(cache)).to.equal('unreachable')
    store.unavailable = false
    await pass(1_000)
    store.unavailable = true
    await cache.fresh()
    expect(rate(cache)).to.equal(undefined)
  })

  it('a store that cannot be reached holds nothing up: unreachable from the start, and found again', async () => {
    store.unavailable = true
    const cache = start()
    const ready = cache.ready()
    await settle()
    expect(rate(cache)).to.equal('unreachable')
    clock.advance(1_000)
    await ready
    await settle()
    store.unavailable = false
    await pass(1_000)
    expect(rate(cache)).to.equal(undefined)
  })

  it('a store that hangs holds nothing up', async () => {
    const cache = start(() => new Promise(() => {}))
    const ready = cache.ready()
    clock.advance(1_000)
    await ready
    expect(rate(cache)).to.equal('unreachable')
  })

  it('a store that cannot be opened is opened later', async () => {
    let isBroken = true
    const cache = await started(async () => {
      if (isBroken) throw new OnlineStoreUnavailable('no')
      return store
    })
    expect(rate(cache)).to.equal('unreachable')
    isBroken = false
    await pass(1_000)
    expect(rate(cache)).to.equal(undefined)
  })

  it('what was read is good for ten seconds after the last answer, then the store is unreachable', async () => {
    await store.write([row('checkout', 0.3)])
    const cache = await started()
    store.unavailable = true
    await pass(9_000)
    expect(rate(cache)).to.equal(0.3)
    await pass(2_000)
    expect(rate(cache)).to.equal('unreachable')
    store.unavailable = false
    await store.write([row('checkout', 0.4)])
    await pass(1_000)
    expect(rate(cache)).to.equal(0.4)
  })

  it('what was read is good for as long when the time of day is set back meanwhile', async () => {
    await store.write([row('checkout', 0.3)])
    const cache = await started()
    store.unavailable = true
    await pass(1_000)
    clock.shiftTimeOfDay(-3_600_000)
    await pass(8_000)
    expect(rate(cache)).to.equal(0.3)
    await pass(2_000)
    expect(rate(cache)).to.equal('unreachable')
  })

  it('features written more than three hours ago are none', async () => {
    await store.write([row('checkout', 0.3)])
    const cache = await started()
    clock.advance(3 * 3_600_000 - 1_000)
    await settle()
    expect(rate(cache)).to.equal(0.3)
    clock.advance(600_000)
    await settle()
    expect(rate(cache)).to.equal(undefined)
  })

  it('are kept for so many services at most', async () => {
    await store.write(Array.from({ length: 10 }, (_, i) => row(`s${i}`, i)))
    const cache = await started(async () => store, 4)
    expect(Array.from({ length: 10 }, (_, i) => rate(cache, `s${i}`)).filter(found => found !== undefined)).to.have.length(4)
  })

  it('are kept for all tenants, however many services one of them has', async () => {
    await store.write(Array.from({ length: 10 }, (_, i) => row(`s${i}`, i, { tenant: 'aaa' })))
    await store.write([row('checkout', 0.3), row('cart', 0.1, { tenant: 'shop' })])
    const cache = await started(async () => store, 8)
    expect(rate(cache)).to.equal(0.3)
    expect(cache.lookup('shop', 'cart')).to.be.an('object')
    const kept = Array.from({ length: 10 }, (_, i) => cache.lookup('aaa', `s${i}`)).filter(found => found !== undefined)
    expect(kept).to.have.length(6)
  })

  it('the store is closed in the end', async () => {
    let isClosed = false
    await started(async () => ({
      ...store,
      async close() {
        isClosed = true
      },
    }))
    stop.abort()
    await settle()
    expect(isClosed).to.equal(true)
  })
})
