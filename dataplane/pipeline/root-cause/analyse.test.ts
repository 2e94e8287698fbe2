import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { findRootCause } from '../../domain/root-cause/find-root-cause.ts'
import type { Observation } from '../../domain/root-cause/observed/observation.ts'
import { causeOf } from '../../domain/root-cause/ranking.ts'
import { runInTurns } from '../../limits/run-in-turns.ts'
import { type SearchRequest, type SearchStore, SearchStoreUnavailable } from '../../ports/search-store.ts'
import { SILENT } from '../../telemetry/log.ts'
import { type EmbeddedSearchStore, startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { buildObservationDocument, hex } from '../../testing/observation-document.ts'
import { putIndexTemplates } from '../../testing/put-index-templates.ts'
import { AT_MS, noise, observation, shop, traffic, USUAL } from '../../testing/root-cause-fixture.ts'
import { analyse, rankCausesFrom } from './analyse.ts'
import { baselineStart, readObservations } from './read-observations.ts'

const MINUTE_MS = 60_000

interface TimeRange {
  readonly range: { readonly timestamp: { readonly gte: string; readonly lt: string } }
}

describe('root cause from the search store', () => {
  let embedded: EmbeddedSearchStore
  before(async function () {
    this.timeout(20_000)
    embedded = await startEmbeddedSearchStore()
    await putIndexTemplates(embedded.store)
  })
  after(() => embedded.stop())

  const deps = () => ({ store: embedded.store, clock: createFakeClock(), log: SILENT })
  /** As the indexer writes records. */
  async function store(tenant: string, observations: readonly Observation[], extra: (i: number) => object = () => ({})): Promise<void> {
    for (let at = 0; at < observations.length; at += 5_000) {
      const operations = observations.slice(at, at + 5_000).map((each, i) => ({
        action: 'index' as const,
        index: 'service-logs-2026.01.01',
        id: hex(`${tenant} ${at + i}`, 32),
        body: buildObservationDocument(tenant, each, extra(at + i)),
      }))
      for (const { status } of await embedded.store.bulk(operations)) expect(status).to.equal('done')
    }
    await embedded.store.refresh('service-logs-*')
  }
  const ask = (tenant: string, more: { readonly atMs?: number; readonly nowMs?: number; readonly services?: readonly string[] } = {}) =>
    analyse(deps(), { tenant, atMs: AT_MS, nowMs: AT_MS + 10 * MINUTE_MS, ...more })

  it('names the service that went silent, with ids of stored records', async () => {
    await store(
      'shop',
      shop(() => USUAL.filter(({ service }) => service !== 'payments')),
    )
    const { at, window, baseline, rootCause } = await ask('shop')
    expect({ at, window, baseline }).to.deep.equal({
      at: '2026-01-01T12:00:00.000Z',
      window: { from: '2026-01-01T12:00:00.000Z', to: '2026-01-01T12:03:00.000Z' },
      baseline: { from: '2026-01-01T11:45:00.000Z', to: '2026-01-01T12:00:00.000Z' },
    })
    expect(rootCause).to.include({ mode: 'rules', fallback: false })
    expect(rootCause.candidates[0]?.service).to.equal('payments')
    const [logId] = rootCause.candidates[0]!.reasons[0]!.logIds
    const { total } = await embedded.store.search({
      index: 'service-logs-*',
      body: { query: { bool: { filter: [{ term: { log_id: logId } }, { term: { tenant_id: 'shop' } }] } } },
    })
    expect(total).to.equal(1)
  })

  it('names the service that hangs, and tells the words of those that wait for it', async () => {
    const late = (service: string, says: string) => ({ service, says, afterMs: 400, isError: true })
    const hung = [
      ...USUAL.slice(0, 3),
      late('orders', 'order 7 not paid: context deadline exceeded'),
      late('gateway', 'Post "http://orders:8080/orders": context deadline exceeded'),
    ]
    await store(
      'hangs',
      shop(() => hung),
    )
    const { rootCause } = await ask('hangs')
    expect(rootCause.candidates.map(({ service }) => service).slice(0, 2)).to.deep.equal(['payments', 'orders'])
    expect(rootCause.summary).to.match(
      /^Most likely payments: .{1,200}, while orders waits: “order <\*> not paid: context deadline exceeded”/,
    )
  }).timeout(60_000)

  it('goes without documents that others wrote into the daily index', async () => {
    await store(
      'mixed',
      shop(() => USUAL.filter(({ service }) => service !== 'payments')),
    )
    const foreign = [
      {},
      {
        message: ['m', 'n'],
        service: ['a', 'b'],
        pattern: ['p', 'q'],
        pattern_id: ['p'],
        trace_id: ['t'],
        level: ['ERROR'],
        log_id: ['l'],
      },
      { message: 5, service: 5, pattern: 5, pattern_id: 5, time_unix_nano: 5, log_id: 5 },
      { service: null, message: null, pattern: null, pattern_id: null, log_id: null, time_unix_nano: null, level: null },
    ]
    const operations = foreign.map((fields, i) => ({
      ...{ action: 'index' as const, index: 'service-logs-2026.01.01', id: `foreign ${i}` },
      body: JSON.stringify({ timestamp: new Date(AT_MS + 1_000).toISOString(), tenant_id: 'mixed', ...fields }),
    }))
    for (const { status } of await embedded.store.bulk(operations)) expect(status).to.equal('done')
    await embedded.store.refresh('service-logs-*')
    expect((await ask('mixed')).rootCause.candidates[0]?.service).to.equal('payments')
  })

  it('reads which replica wrote a record', async () => {
    const records = [1, 2, 3].map(timeMs => observation({ timeMs: AT_MS + timeMs }))
    const pods = [{ 'k8s.pod.name': 'orders-0', host: 'node-1' }, { host: 'node-1' }, {}]
    await store('replicas', records, i => pods[i]!)
    const read = await readObservations(embedded.store, {
      tenant: 'replicas',
      fromMs: AT_MS - MINUTE_MS,
      atMs: AT_MS,
      toMs: AT_MS + MINUTE_MS,
    })
    const instances = read.toSorted((a, b) => a.timeMs - b.timeMs).map(({ instance }) => instance)
    expect(instances).to.deep.equal(['orders-0', 'node-1', undefined])
  })

  it('names the cause by patterns alone where messages of errors cannot be read', async () => {
    const failing = USUAL.map(line => (line.service === 'payments' ? { ...line, says: 'no card <*>', isError: true } : line))
    await store(
      'unread',
      shop(() => failing),
    )
    const search: SearchStore['search'] = request =>
      JSON.stringify(request.body['_source'] ?? []).includes('message')
        ? Promise.reject(new SearchStoreUnavailable('too slow'))
        : embedded.store.search(request)
    const asked = { tenant: 'unread', atMs: AT_MS, nowMs: AT_MS + 10 * MINUTE_MS }
    const { rootCause } = await analyse({ ...deps(), store: { ...embedded.store, search } }, asked)
    expect(rootCause.candidates[0]?.service).to.equal('payments')
  })

  it('sees no record of another tenant, and none after the present', async () => {
    expect((await ask('other')).rootCause.candidates).to.deep.equal([])
    const { window, rootCause } = await ask('shop', { nowMs: AT_MS })
    expect(window).to.deep.equal({ from: '2026-01-01T12:00:00.000Z', to: '2026-01-01T12:00:00.000Z' })
    expect(rootCause.candidates).to.deep.equal([])
    expect(rootCause.summary).to.match(/^No records in the window/)
  })

  it('finds the cause of an incident whose first anomaly came two minutes after the fault began', async () => {
    const silenced = USUAL.filter(({ service }) => service !== 'payments')
    await store('late', [
      ...traffic({ from: -15, to: -2, perMinute: 40, lines: () => USUAL }),
      ...traffic({ from: -2, to: 3, perMinute: 40, lines: () => silenced }),
    ])
    const startsMs = [15_000, 60_000, 180_000].map(leadMs => AT_MS - leadMs)
    for (const nowMs of [AT_MS + 5_000, AT_MS + 10 * MINUTE_MS])
      expect(causeOf(await rankCausesFrom(deps(), { tenant: 'late', startsMs, nowMs })).candidates[0]?.service).to.equal('payments')
  })

  it('answers for times of any kind that are past', async () => {
    for (const atMs of [0, 1, -1e12, Date.parse('0000-01-01T00:00:00Z'), AT_MS - 30 * 24 * 60 * MINUTE_MS])
      expect((await ask('shop', { atMs })).rootCause.candidates, `${atMs}`).to.deep.equal([])
  })

  it('tells statements apart by their call sites where records name them', async () => {
    const lines = shop(() => USUAL)
    await store('sites', lines, i => ({
      'code.logger': `${lines[i]!.service}.ts:${USUAL.findIndex(({ says }) => says === lines[i]!.pattern)}`,
      'code.function.name': 'store',
    }))
    const observations = await readObservations(embedded.store, {
      tenant: 'sites',
      fromMs: AT_MS - 15 * MINUTE_MS,
      atMs: AT_MS,
      toMs: AT_MS + 1,
    })
    expect(observations.length).to.be.above(3_000)
    expect(observations[0]!.template).to.match(/^\w+\.ts:-?\d$/)
  })

  it('looks back an hour, or a day, where there are few records', async () => {
    const period = { atMs: AT_MS, toMs: AT_MS + 3 * MINUTE_MS }
    const startOf = (tenant: string) => baselineStart(embedded.store, { tenant, ...period })
    await store('slow', traffic({ from: -60, to: 3, perMinute: 8, lines: () => USUAL }))
    expect(await startOf('shop')).to.equal(AT_MS - 15 * MINUTE_MS)
    expect(await startOf('slow')).to.equal(AT_MS - 60 * MINUTE_MS)
    expect(await startOf('nobody')).to.equal(AT_MS - 24 * 60 * MINUTE_MS)
  }).timeout(20_000)

  it('looks back less far where there are many records', async () => {
    const minutesAt = async (perMinute: number) => {
      const countsRange = async ({ body }: SearchRequest) => {
        const { query } = body as { readonly query: { readonly bool: { readonly filter: readonly [object, TimeRange] } } }
        const { gte, lt } = query.bool.filter[1].range.timestamp
        return { total: (perMinute * (Date.parse(lt) - Date.parse(gte))) / MINUTE_MS, hits: [] }
      }
      const store = { search: countsRange } as Pick<SearchStore, 'search'> as SearchStore
      return (AT_MS - (await baselineStart(store, { tenant: 'any', atMs: AT_MS, toMs: AT_MS + MINUTE_MS }))) / MINUTE_MS
    }
    for (const [perMinute, minutes] of [
      [6_000, 5],
      [5_999, 10],
      [2_000, 10],
      [1_999, 15],
      [133, 60],
      [33, 24 * 60],
    ] as const)
      expect(await minutesAt(perMinute), `${perMinute} a minute`).to.equal(minutes)
  })

  it('takes the same share of baseline and window in whole traces where there are more records than it looks at', async () => {
    const slowed = USUAL.map(line => (line.service === 'payments' ? { ...line, afterMs: 300 } : line))
    const records = [
      ...traffic({ from: -15, to: 0, perMinute: 140, lines: () => USUAL }),
      ...traffic({ from: 0, to: 3, perMinute: 140, lines: () => slowed }),
    ]
    await store('busy', records)
    const period = { tenant: 'busy', fromMs: AT_MS - 15 * MINUTE_MS, atMs: AT_MS, toMs: AT_MS + 3 * MINUTE_MS }
    const read = await readObservations(embedded.store, period, 10_000)
    expect(read.length).to.be.within(8_000, 12_000)
    const byTrace = Map.groupBy(read, ({ traceId }) => traceId)
    // Requests of the last second go on after the window.
    const cut = [...byTrace.values()].filter(({ length }) => length !== USUAL.length)
    for (const [{ timeMs }] of cut as [Observation][]) expect(timeMs).to.be.above(period.toMs - 1_000)
    const ofWindow = read.filter(({ timeMs }) => timeMs >= AT_MS).length
    expect(ofWindow / read.length).to.be.closeTo(3 / 18, 0.02)
    const cause = await runInTurns(findRootCause({ observations: read, atMs: AT_MS }))
    expect(cause.candidates[0]?.service).to.equal('payments')
  }).timeout(120_000)

  it('reads documents of slices of the time alone where there are many times the records that it looks at', async () => {
    const slowed = USUAL.map(line => (line.service === 'payments' ? { ...line, afterMs: 300 } : line))
    await store('busier', [
      ...traffic({ from: -5, to: 0, perMinute: 500, lines: () => USUAL }),
      ...traffic({ from: 0, to: 3, perMinute: 500, lines: () => slowed }),
    ])
    const period = { tenant: 'busier', fromMs: AT_MS - 5 * MINUTE_MS, atMs: AT_MS, toMs: AT_MS + 3 * MINUTE_MS }
    const spans: number[] = []
    const search: SearchStore['search'] = async request => {
      const { query, size } = request.body as {
        readonly size: number
        readonly query: { readonly bool: { readonly filter: readonly [object, TimeRange] } }
      }
      const { gte, lt } = query.bool.filter[1].range.timestamp
      if (size > 0) spans.push(Date.parse(lt) - Date.parse(gte))
      return embedded.store.search(request)
    }
    const read = await readObservations({ ...embedded.store, search }, period, 3_000)
    const records = 8 * 500 * USUAL.length
    const lookedAt = spans.reduce((sum, span) => sum + span, 0) / (8 * MINUTE_MS)
    expect(lookedAt).to.be.closeTo((2 * 3_000) / records, 0.01)
    expect(read.length).to.be.within(2_400, 3_600)
    expect(read.filter(({ timeMs }) => timeMs >= AT_MS).length / read.length).to.be.closeTo(3 / 8, 0.05)
    const cause = await runInTurns(findRootCause({ observations: read, atMs: AT_MS }))
    expect(cause.candidates[0]?.service).to.equal('payments')
  }).timeout(120_000)

  it('reads the records of a long time once where all of them lie in its last seconds', async () => {
    const records = traffic({ from: -1, to: 0.2, perMinute: 2_000, lines: () => USUAL })
    await store('fresh', records)
    const pages: number[] = []
    let withPattern = 0
    const search: SearchStore['search'] = async request => {
      const result = await embedded.store.search<{ readonly pattern?: string }>(request)
      if ((request.body as { readonly size: number }).size > 0) pages.push(result.hits.length)
      withPattern += result.hits.filter(({ source }) => source.pattern !== undefined).length
      return result as never
    }
    const period = { tenant: 'fresh', fromMs: AT_MS - 24 * 60 * MINUTE_MS, atMs: AT_MS, toMs: AT_MS + 3 * MINUTE_MS }
    const read = await readObservations({ ...embedded.store, search }, period)
    expect(read.length).to.equal(records.filter(({ timeMs }) => timeMs < period.toMs).length)
    expect(pages.reduce((sum, hits) => sum + hits, 0)).to.equal(read.length)
    // The pages that come first tell the patterns of the others.
    expect(withPattern).to.be.within(1, read.length - 1)
    for (const { patternId, pattern } of read) if (hex(pattern, 16) !== patternId) expect(pattern).to.equal(`the pattern of ${patternId}`)
    pages.length = 0
    const sample = await readObservations({ ...embedded.store, search }, period, 4_000)
    expect(sample.length).to.be.within(3_000, 5_000)
    expect(pages.reduce((sum, hits) => sum + hits, 0)).to.equal(sample.length)
  }).timeout(120_000)

  it('reads patterns that come late, few or many', async () => {
    const minute = (at: number) => traffic({ from: at, to: at + 1, perMinute: 1_000, lines: () => USUAL })
    for (const kinds of [3, 900]) {
      const late = (i: number) => `late ${i % kinds}`
      // The latest are read first.
      const records = [...minute(1), ...minute(0).map((each, i) => ({ ...each, pattern: late(i) }))]
      await store(`late-${kinds}`, records)
      const period = { tenant: `late-${kinds}`, fromMs: AT_MS - MINUTE_MS, atMs: AT_MS, toMs: AT_MS + 3 * MINUTE_MS }
      const read = await readObservations(embedded.store, period)
      expect(read.length).to.equal(records.length)
      for (const { patternId, pattern } of read) if (hex(pattern, 16) !== patternId) expect(pattern).to.equal(`the pattern of ${patternId}`)
    }
  }).timeout(120_000)

  it('takes single records where trace ids do not begin at random', async () => {
    const records = traffic({ from: -15, to: 3, perMinute: 140, lines: () => USUAL }).map((each, i) => ({
      ...each,
      logId: `${i} ${noise(i)}`,
    }))
    await store('time-ids', records, i => ({ trace_id: `65ab${hex(records[i]!.traceId, 28)}` }))
    const period = { tenant: 'time-ids', fromMs: AT_MS - 15 * MINUTE_MS, atMs: AT_MS, toMs: AT_MS + 3 * MINUTE_MS }
    expect((await readObservations(embedded.store, period, 10_000)).length).to.be.within(8_000, 12_000)
  }).timeout(120_000)
})
