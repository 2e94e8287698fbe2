/** The features that `feature_compute` makes of documents, whichever search store holds them. */
import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { anomaliesIndex } from '../../../contract/indices.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createMemoryOnlineStore, type MemoryOnlineStore } from '../../../testing/memory-online-store.ts'
import { putIndexTemplates } from '../../../testing/put-index-templates.ts'
import { computeHour } from '../compute-features.ts'

/** A day that nothing else writes to. */
const HOUR = Date.UTC(2021, 2, 4, 10)
const HOUR_MS = 3_600_000
const LOGS = 'service-logs-2021.03.04'
const TENANTS = ['features-a', 'features-b']
const [A, B] = TENANTS as [string, string]

export function describeFeatureCompute(name: string, open: () => Promise<{ store: SearchStore; stop(): Promise<void> }>): void {
  describe(`feature_compute on ${name}`, () => {
    let search: SearchStore
    let stop = async () => {}
    let online: MemoryOnlineStore
    let ids = 0

    before(async function () {
      this.timeout(30_000)
      ;({ store: search, stop } = await open())
      await putIndexTemplates(search)
    })
    const clean = async () => {
      for (const index of [LOGS, ...TENANTS.map(anomaliesIndex)]) await search.deleteIndex(index)
    }
    after(async () => {
      await clean()
      await stop()
    })
    beforeEach(async () => {
      await clean()
      online = createMemoryOnlineStore()
    })

    const put = async (index: string, documents: readonly object[]) => {
      const outcomes = await search.bulk(
        documents.map(document => ({ action: 'create', index, id: `features-${ids++}`, body: JSON.stringify(document) }) as const),
      )
      return outcomes.map(({ status }) => status)
    }
    /** Records one after the other from the start of the hour. */
    const logs = (count: number, fields: (i: number) => object, { tenant = A, fromMs = HOUR } = {}) =>
      put(
        LOGS,
        Array.from({ length: count }, (_, i) => ({
          timestamp: new Date(fromMs + i).toISOString(),
          tenant_id: tenant,
          service: 'checkout',
          level: 'INFO',
          message: 'm',
          ...fields(i),
        })),
      )
    const anomalies = (count: number, atMs: number, { tenant = A, service = 'checkout' } = {}) =>
      put(
        anomaliesIndex(tenant),
        Array.from({ length: count }, () => ({ timestamp: new Date(atMs).toISOString(), tenant_id: tenant, service })),
      )
    const compute = (hourMs = HOUR, nowMs = hourMs + HOUR_MS + 120_000) =>
      computeHour({ search, online, clock: createFakeClock(nowMs), log: SILENT }, hourMs)
    const stored = (service = 'checkout', tenant = A) => online.rows().find(row => row.service === service && row.tenant === tenant)

    it('per tenant and service: error rate, p99 latency, request rate, anomalies', async () => {
      await logs(360, i => ({ level: ['INFO', 'ERROR', 'WARN', 'FATAL'][i % 4], duration_ms: i < 350 ? 20 : 3_000 }))
      await logs(36, () => ({ level: 'ERROR' }), { tenant: B })
      await logs(1, () => ({ service: 'cart', level: 'DEBUG' }))
      await anomalies(3, HOUR)
      expect(await compute()).to.deep.equal({ written: 3, removed: 0, kept: 0 })
      expect(stored()).to.deep.include({
        values: { ml_error_rate_1h: 0.5, ml_p99_latency_1h: 3_000, ml_request_rate_1h: 0.1, ml_anomaly_history_count: 3 },
        eventMs: HOUR + HOUR_MS,
      })
      expect(stored('checkout', B)?.values).to.include({ ml_error_rate_1h: 1, ml_p99_latency_1h: 0, ml_request_rate_1h: 0.01 })
      expect(stored('cart')?.values).to.include({ ml_error_rate_1h: 0, ml_request_rate_1h: 1 / 3_600 })
    })

    it('over the full hour alone: from its start to before its end', async () => {
      for (const fromMs of [HOUR - 1, HOUR, HOUR + HOUR_MS - 1, HOUR + HOUR_MS]) await logs(1, () => ({}), { fromMs })
      await compute()
      expect(stored()?.values.ml_request_rate_1h).to.equal(2 / 3_600)
    })

    for (const { field, value, ms } of [
      { field: 'duration_ms', value: 12.5, ms: 12.5 },
      { field: 'latency_ms', value: 40, ms: 40 },
      { field: 'response_time_ms', value: 7, ms: 7 },
      { field: 'http.server.request.duration', value: 0.25, ms: 250 },
    ])
      it(`latency from ${field}, ${value} as ${ms} ms, also when a whole number came first`, async () => {
        await logs(1, () => ({ [field]: 0 }))
        await logs(99, () => ({ [field]: value }), { fromMs: HOUR + 1_000 })
        await compute()
        expect(stored()?.values.ml_p99_latency_1h).to.be.closeTo(ms, 1e-6)
      })

    it('latency from the first field that a record has', async () => {
      await logs(50, () => ({ duration_ms: 10, latency_ms: 9_000, 'http.server.request.duration': 9 }))
      await logs(50, () => ({ latency_ms: 20, response_time_ms: 8_000 }), { fromMs: HOUR + 1_000 })
      await compute()
      expect(stored()?.values.ml_p99_latency_1h).to.equal(20)
    })

    it('text in a latency field is refused by its index, so that it cannot spoil the numbers', async () => {
      await logs(10, () => ({ duration_ms: 30 }))
      expect(await logs(1, () => ({ duration_ms: '12 ms' }), { fromMs: HOUR + 1_000 })).to.deep.equal(['refused'])
      await compute()
      expect(stored()?.values.ml_p99_latency_1h).to.equal(30)
    })

    it('anomalies of the last 24 h, also of services without records', async () => {
      const now = HOUR + HOUR_MS + 600_000
      await anomalies(1, now - 24 * HOUR_MS - 1)
      await anomalies(2, now - 24 * HOUR_MS)
      await anomalies(4, now - 1)
      await anomalies(8, now + 1_000)
      await anomalies(1, now - 1_000, { service: 'cart' })
      await logs(1, () => ({}))
      await compute(HOUR, now)
      expect(stored()?.values.ml_anomaly_history_count).to.equal(6)
      expect(stored('cart')?.values).to.deep.equal({
        ml_error_rate_1h: 0,
        ml_p99_latency_1h: 0,
        ml_request_rate_1h: 0,
        ml_anomaly_history_count: 1,
      })
    })

    it('is idempotent: the same hour again changes nothing', async () => {
      await logs(100, i => ({ level: i < 30 ? 'ERROR' : 'INFO', latency_ms: i }))
      await anomalies(3, HOUR)
      await compute()
      const before = online.rows()
      await compute()
      expect(online.rows()).to.deep.equal(before)
    })

    it('features of a service that fell silent go; those of a later time stay', async () => {
      await logs(10, i => ({ service: i % 2 ? 'checkout' : 'cart' }))
      await compute()
      const pushed = { tenant: A, service: 'pushed', values: { ml_error_rate_1h: 1 }, eventMs: HOUR + 2 * HOUR_MS + 1, writtenMs: 1 }
      await online.write([pushed])
      await logs(10, () => ({ service: 'cart' }), { fromMs: HOUR + HOUR_MS })
      await logs(1, () => ({ service: 'pushed' }), { fromMs: HOUR + HOUR_MS })
      expect(await compute(HOUR + HOUR_MS)).to.deep.equal({ written: 1, removed: 1, kept: 1 })
      expect(stored()).to.equal(undefined)
      expect(stored('pushed')).to.deep.equal(pushed)
      expect(await compute(HOUR)).to.deep.equal({ written: 1, removed: 0, kept: 1 })
    })

    it('features of a time more than a day ahead do not stay', async () => {
      await logs(1, () => ({}))
      const far = { tenant: A, values: { ml_error_rate_1h: 1 }, eventMs: HOUR + 26 * HOUR_MS, writtenMs: 1 }
      await online.write(['checkout', 'pushed'].map(service => ({ ...far, service })))
      expect(await compute()).to.deep.equal({ written: 1, removed: 1, kept: 0 })
      expect(stored()).to.deep.include({ eventMs: HOUR + HOUR_MS })
      expect(stored('pushed')).to.equal(undefined)
    })

    it('of tenants alone: what another writer gives as one is none', async () => {
      for (const tenant of ['BAD/../x', '*', 'a,b', '<now>', A]) await logs(1, () => ({}), { tenant })
      expect(await compute()).to.include({ written: 1 })
      expect(stored()).to.not.equal(undefined)
    })

    it('with many services', async () => {
      await logs(500, i => ({ service: `s${i % 250}`, duration_ms: i % 250 }))
      expect((await compute()).written).to.equal(250)
      expect(stored('s249')?.values).to.include({ ml_p99_latency_1h: 249, ml_request_rate_1h: 2 / 3_600 })
    })

    it('without any document there are no features', async () => {
      expect(await compute()).to.deep.equal({ written: 0, removed: 0, kept: 0 })
    })
  })
}
