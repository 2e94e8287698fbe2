/** The contract of every online store behind the port. */
import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import type { FeatureKey, FeatureRow, OnlineStore } from '../../../ports/online-store.ts'

export interface OnlineStoreUnderTest {
  /** Another client of the same store, as another process would have. */
  open(): Promise<OnlineStore>
  stop(): Promise<void>
}

const CHECKOUT: FeatureRow = {
  tenant: 'acme',
  service: 'checkout',
  values: { ml_error_rate_1h: 0.3, ml_p99_latency_1h: 2500.125, ml_request_rate_1h: 1 / 3, ml_anomaly_history_count: 4 },
  eventMs: Date.UTC(2026, 10, 21, 16),
  writtenMs: Date.UTC(2026, 10, 21, 16, 1, 2, 345),
}

export function describeOnlineStore(name: string, start: (context: Mocha.Context) => Promise<OnlineStoreUnderTest>): void {
  describe(`OnlineStore contract: ${name}`, () => {
    let underTest: OnlineStoreUnderTest | undefined
    let store: OnlineStore
    let other: OnlineStore
    before(async function () {
      this.timeout(20_000)
      underTest = await start(this)
      store = await underTest.open()
      other = await underTest.open()
    })
    after(async () => {
      await store?.close()
      await other?.close()
      await underTest?.stop()
    })
    beforeEach(async () => {
      await store.remove(await all())
    })

    const all = async (from = store) => {
      const rows: FeatureRow[] = []
      for await (const page of from.scan()) rows.push(...page)
      return rows
    }
    const one = async (key: FeatureKey) => (await store.read([key]))[0]

    it('answers what was written, in the order of the keys, to every client', async () => {
      const cart = { ...CHECKOUT, service: 'cart', values: { ml_error_rate_1h: 0 } }
      await store.write([CHECKOUT, cart])
      expect(await other.read([cart, { tenant: 'globex', service: 'checkout' }, CHECKOUT])).to.deep.equal([cart, undefined, CHECKOUT])
      expect(await store.read([])).to.deep.equal([])
    })

    it('the last write wins, whatever time it speaks of', async () => {
      await store.write([CHECKOUT])
      const older = { ...CHECKOUT, eventMs: CHECKOUT.eventMs - 3_600_000, values: { ...CHECKOUT.values, ml_error_rate_1h: 1 } }
      await store.write([older])
      expect(await one(CHECKOUT)).to.deep.equal(older)
      await store.write([older, CHECKOUT])
      expect(await one(CHECKOUT)).to.deep.equal(CHECKOUT)
    })

    it('features that a row does not name keep what they were; null is written as unknown', async () => {
      await store.write([CHECKOUT])
      await store.write([{ ...CHECKOUT, values: { ml_error_rate_1h: 0.5, ml_anomaly_history_count: null } }])
      expect((await one(CHECKOUT))?.values).to.deep.equal({ ...CHECKOUT.values, ml_error_rate_1h: 0.5, ml_anomaly_history_count: null })
    })

    for (const service of ['a/b', 'a:b*?[x]', 'näme with "quotes" 😀', "'; DROP TABLE features; --", '__proto__', 'x'.repeat(1_000), ''])
      it(`keeps services apart by their whole name: ${JSON.stringify(service.slice(0, 30))}`, async () => {
        const row = { ...CHECKOUT, service }
        await store.write([row, { ...row, tenant: 'acme-b', eventMs: 1 }])
        expect(await one(row)).to.deep.equal(row)
        expect((await all()).filter(found => found.service === service).map(({ tenant }) => tenant)).to.have.members(['acme', 'acme-b'])
      })

    it('scans every row, also when there are many', async () => {
      const rows = Array.from({ length: 2_345 }, (_, i) => ({ ...CHECKOUT, tenant: i % 2 ? 'acme' : 'globex', service: `s${i}` }))
      await store.write(rows)
      const found = new Map((await all(other)).map(row => [row.service, row]))
      expect(found.size).to.equal(rows.length)
      expect(found.get('s2344')).to.deep.equal(rows[2_344])
    })

    it('what was removed is gone for every client', async () => {
      await store.write([CHECKOUT, { ...CHECKOUT, service: 'cart' }])
      await other.remove([CHECKOUT, { tenant: 'acme', service: 'never there' }])
      expect(await one(CHECKOUT)).to.equal(undefined)
      expect((await all()).map(({ service }) => service)).to.deep.equal(['cart'])
    })

    it('the version changes with every write and removal, and only then', async () => {
      const versions = [await store.version()]
      expect(await store.version()).to.equal(versions[0])
      await other.write([CHECKOUT])
      versions.push(await store.version())
      await other.remove([CHECKOUT])
      versions.push(await store.version())
      expect(new Set(versions).size).to.equal(3)
      expect(await other.version()).to.equal(versions[2])
    })
  })
}
