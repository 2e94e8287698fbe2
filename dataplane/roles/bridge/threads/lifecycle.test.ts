import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { anomaliesIndex, CONFIG_INDEX, incidentsIndex, lifecycleIndices } from '../../../contract/indices.ts'
import type { Anomaly } from '../../../domain/anomalies/anomaly.ts'
import { anomalyConfigId } from '../../../domain/incidents/anomaly-config.ts'
import { encodeAnomalyEvent } from '../../../pipeline/anomaly-event.ts'
import type { Work } from '../../../pipeline/runners/work.ts'
import { createIndexOutages, type IndexOutages } from '../../../pipeline/sinks/index-outages.ts'
import type { TenantRooms } from '../../../pipeline/sinks/tenants/tenant-rooms.ts'
import type { ConsumedRecord } from '../../../ports/bus.ts'
import { type SearchStore, SearchStoreUnavailable } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { startEmbeddedSearchStore } from '../../../testing/embedded-search-store.ts'
import { createMemorySearchStore } from '../../../testing/memory-search-store.ts'
import { createRecordingBus, type RecordingBus } from '../../../testing/recording-bus.ts'
import { createLifecycleWork, openTenantRooms } from './lifecycle.ts'
import type { ThreadDeps } from './thread-deps.ts'

const START_MS = Date.UTC(2026, 10, 21, 12)
const A_MINUTE = 100

let offset = 0

function event(tenant: string, n: number, rest: Partial<Anomaly> = {}): ConsumedRecord {
  const anomaly: Anomaly = {
    id: `a-${tenant}-${n}`,
    log_id: `l-${tenant}-${n}`,
    document_id: `d-${tenant}-${n}`,
    timestamp: new Date(START_MS + n * 1_000).toISOString(),
    tenant_id: tenant,
    service: 'checkout',
    level: 'FATAL',
    message: `failed ${n}`,
    pattern_id: '0000000000000001',
    pattern: 'failed <*>',
    score: 0.5,
    anomaly_score: 0,
    detectors: ['rule'],
    reasons: [],
    ...rest,
  }
  const { key, value, headers } = encodeAnomalyEvent(anomaly, { key: '', value: Buffer.from('{}'), headers: {} })
  return { topic: 'anomaly', partition: 0, offset: offset++, timestampMs: START_MS, key, value, headers: headers ?? {} }
}

const three = (tenant: string, from = 1) => [0, 1, 2].map(n => event(tenant, from + n))

describe('the lifecycle thread with many tenants', () => {
  let store: ReturnType<typeof createMemorySearchStore>
  let bus: RecordingBus
  let nowMs: number
  let rooms: TenantRooms
  let outages: IndexOutages
  let work: Work
  let counts: Record<string, number>
  let warnings: string[]
  let lettersCounted: string[]

  const deps = (): ThreadDeps =>
    ({
      settings: { ANOMALY_TOPIC: 'anomaly', DEAD_LETTER_TOPIC: 'dead' },
      bus,
      config: undefined,
      count: (counter: string, amount: number) => {
        counts[counter] = (counts[counter] ?? 0) + amount
      },
      countDeadLetters: (...counted: readonly unknown[]) => void lettersCounted.push(counted.join(' ')),
      log: { ...SILENT, warn: (_fields: object, message: string) => void warnings.push(message) },
      clock: {
        nowMs: () => nowMs,
        sleep: async (ms: number) => {
          nowMs += ms
        },
      },
      signal: new AbortController().signal,
    }) as unknown as ThreadDeps
  const open = (on: SearchStore) => {
    rooms ??= openTenantRooms(deps(), on)
    outages ??= createIndexOutages({ ...deps(), store: on })
    work = createLifecycleWork(deps(), on, rooms, outages)
  }
  const handle = (records: readonly ConsumedRecord[]) => work.handle(records, bus)
  /** As the thread does: started again with back-off when it fails. Whether the batch was handled in time. */
  const triedFor = async (seconds: number, batch: readonly ConsumedRecord[]) => {
    for (const endMs = nowMs + seconds * 1_000; nowMs < endMs; nowMs += 20_000) {
      open(store)
      const error = await handle(batch).then(
        () => undefined,
        (reason: Error) => reason,
      )
      if (error === undefined) return true
      expect(error).to.be.instanceOf(SearchStoreUnavailable)
    }
    return false
  }
  const untilHandled = async (batch: readonly ConsumedRecord[]) => expect(await triedFor(300, batch)).to.equal(true)
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      nowMs += 1_000
      await work.idle?.()
    }
  }
  const stored = (tenant: string) => [...store.documents(anomaliesIndex(tenant)).values()] as unknown as Anomaly[]
  const own = (tenant: string) => stored(tenant).filter(({ tenant_id }) => tenant_id === tenant)
  const waiting = () => stored('default').filter(({ tenant_id }) => tenant_id !== 'default')
  const incidents = (tenant: string) => [...store.documents(incidentsIndex(tenant)).values()]
  const letters = () => bus.sent.filter(({ topic }) => topic === 'dead').map(({ record }) => record.headers!['dlq.reason'])

  beforeEach(() => {
    store = createMemorySearchStore()
    bus = createRecordingBus()
    nowMs = START_MS
    counts = {}
    warnings = []
    lettersCounted = []
    rooms = undefined as unknown as TenantRooms
    outages = undefined as unknown as IndexOutages
    open(store)
  })

  it('opens incidents of a known tenant at once, while new ones beyond the limit wait and come in the minutes after', async () => {
    await handle(three('shop').slice(0, 1))
    const names = Array.from({ length: 400 }, (_, i) => `new${i}`)
    await handle([...names.map(name => event(name, 1)), ...three('shop', 2)])
    expect(incidents('shop').length).to.equal(1)
    expect(names.filter(name => own(name).length > 0).length).to.be.at.most(10)
    expect(own('new399').length + waiting().filter(({ tenant_id }) => tenant_id === 'new399').length).to.equal(1)
    expect(counts['anomaliesDelayed']).to.be.at.least(390)
    await pass(30)
    expect(names.filter(name => own(name).length > 0).length).to.be.within(A_MINUTE, 2 * A_MINUTE)
    await pass(300)
    expect(names.filter(name => own(name).length === 1).length).to.equal(400)
    expect(waiting()).to.deep.equal([])
    expect(counts['anomaliesResumed']).to.equal(counts['anomaliesDelayed'])
    expect(letters()).to.deep.equal([])
  })

  it('opens the incident of anomalies that waited, with each of them counted once', async () => {
    for (let round = 0; round < 12; round++) await handle(Array.from({ length: 10 }, (_, i) => event(`n${round}-${i}`, 1)))
    const late = three('late')
    await handle(late.slice(0, 2))
    await handle(late.slice(2))
    expect(waiting().filter(({ tenant_id }) => tenant_id === 'late').length).to.equal(3)
    await pass(60)
    expect(incidents('late').map(({ anomalyCount }) => anomalyCount)).to.deep.equal([3])
    await handle(late)
    await pass(60)
    expect(incidents('late').map(({ anomalyCount }) => anomalyCount)).to.deep.equal([3])
    expect(waiting()).to.deep.equal([])
  })

  it('makes dead letters with the reason of anomalies that waited and are refused then; others of their tenant are stored', async () => {
    open({
      ...store,
      bulk: async operations => {
        const outcomes = await store.bulk(operations.filter(({ id }) => id !== 'a-late-2' || waits))
        if (waits) return outcomes
        const left = [...outcomes]
        return operations.map(({ id }) =>
          id === 'a-late-2' ? { status: 'refused', reason: '400 mapper_parsing_exception' } : left.shift()!,
        )
      },
    })
    let waits = true
    for (let round = 0; round < 12; round++) await handle(Array.from({ length: 10 }, (_, i) => event(`n${round}-${i}`, 1)))
    await handle(three('late'))
    expect(waiting().filter(({ tenant_id }) => tenant_id === 'late').length).to.equal(3)
    waits = false
    await pass(60)
    expect(letters()).to.deep.equal(['400 mapper_parsing_exception'])
    const [letter] = bus.sent.filter(({ topic }) => topic === 'dead').map(({ record }) => record)
    expect(letter!.key).to.equal('late/checkout')
    expect(JSON.parse(Buffer.from(letter!.value).toString())).to.include({ id: 'a-late-2', tenant_id: 'late', message: 'failed 2' })
    expect(letter!.headers).to.include({ 'dlq.topic': 'anomaly', 'dlq.stage': 'lifecycle', 'dlq.cut': String(letter!.value.length) })
    expect(counts['anomaliesResumed']).to.equal(counts['anomaliesDelayed']! - 1)
    expect(lettersCounted).to.deep.equal(['lifecycle late 1'])
    expect(own('late').map(({ id }) => id)).to.have.members(['a-late-1', 'a-late-3'])
    expect(waiting()).to.deep.equal([])
    // Its neighbours are not held up: the tenant is not left out.
    await handle([event('late', 4)])
    expect(own('late').length).to.equal(3)
    await pass(120)
    expect(letters().length).to.equal(1)
  })

  it('takes up some of each tenant that waits, not those that have waited longest alone', async () => {
    await handle([event('loud', 1), ...three('late').slice(0, 1)])
    rooms.close(['loud', 'late'])
    await handle(Array.from({ length: 1_500 }, (_, n) => event('loud', 2 + n)))
    await handle(three('late', 2_000))
    expect(waiting()).to.have.length(1_503)
    await pass(61)
    expect(incidents('late').map(({ anomalyCount }) => anomalyCount)).to.deep.equal([3])
    expect(waiting().length).to.be.within(500, 1_400)
    await pass(5)
    expect(waiting()).to.deep.equal([])
    expect(own('loud')).to.have.length(1_501)
  })

  it('lets anomalies wait when the store makes no more indices; the others go on, and these follow once there is room', async () => {
    await handle(three('shop'))
    await handle([event('default', 1)])
    store.isFull = true
    await handle([...three('late'), ...three('shop', 10)])
    expect(waiting().map(({ id }) => id)).to.deep.equal(['a-late-1', 'a-late-2', 'a-late-3'])
    expect(own('shop').length).to.equal(6)
    await pass(5)
    store.isFull = false
    await pass(70)
    expect(incidents('late').map(({ anomalyCount }) => anomalyCount)).to.deep.equal([3])
    expect(own('late').length).to.equal(3)
    expect(waiting()).to.deep.equal([])
    expect(letters()).to.deep.equal([])
  })

  it('makes dead letters with the reason of what finds no room at all, and goes on with the others', async () => {
    await handle(three('shop'))
    store.isFull = true
    await handle([...three('late'), ...three('shop', 10)])
    expect(letters()).to.have.length(3)
    expect(letters()[0]).to.contain('validation_exception')
    expect(own('shop').length).to.equal(6)
  })

  it("goes on with the others when one tenant's index does not work, and with that one when it works again", async () => {
    await handle(three('shop'))
    await handle([...three('ill').slice(0, 1), event('default', 1)])
    let isIll = true
    const broken: SearchStore = {
      ...store,
      async getMany(index, ids, fields) {
        if (isIll && index === anomaliesIndex('ill')) throw new SearchStoreUnavailable('no such shard')
        return store.getMany(index, ids, fields)
      },
    }
    open(broken)
    const batch = [...three('ill', 2), ...three('shop', 10)]
    const failed = await handle(batch).then(
      () => undefined,
      (error: Error) => error,
    )
    expect(failed).to.be.instanceOf(SearchStoreUnavailable)
    open(broken)
    await handle(batch)
    expect(own('shop').length).to.equal(6)
    expect(waiting().length).to.equal(3)
    isIll = false
    await pass(70)
    expect(own('ill').length).to.equal(4)
    expect(waiting()).to.deep.equal([])
    expect(letters()).to.deep.equal([])
  })

  it('does not take a store that is away for the failure of a tenant', async () => {
    await handle(three('shop'))
    store.unavailable = true
    await handle(three('shop', 10)).catch(() => {})
    store.unavailable = false
    open(store)
    await handle(three('shop', 10))
    expect(own('shop').length).to.equal(6)
    expect(waiting()).to.deep.equal([])
  })

  it("does not take a store that is overloaded, or whose disk is full, for the failure of a tenant's index", async () => {
    await handle([event('default', 1), ...three('shop')])
    const { bulk } = store
    const full: SearchStore = {
      ...store,
      bulk: async operations => operations.map(() => ({ status: 'retry', reason: '429 cluster_block_exception' })),
    }
    open(full)
    for (let time = 0; time < 2; time++) {
      const failed = await handle([event('default', 2), ...three('shop', 10)]).catch((error: Error) => error)
      expect(failed).to.be.instanceOf(SearchStoreUnavailable)
    }
    expect(letters()).to.deep.equal([])
    open({ ...store, bulk })
    await handle([event('default', 2), ...three('shop', 10)])
    expect(own('default').length).to.equal(2)
    expect(own('shop').length).to.equal(6)
    expect(letters()).to.deep.equal([])
  })

  it('makes dead letters of what belongs to the default tenant once its index has been red for two minutes, and goes on with the others', async () => {
    await handle([event('default', 1), ...three('shop')])
    store.red.add(anomaliesIndex('default'))
    const batch = [event('default', 2), ...three('shop', 10)]
    await untilHandled(batch)
    expect(nowMs - START_MS).to.be.within(120_000, 160_000)
    expect(own('shop').length).to.equal(6)
    expect(letters()).to.deep.equal(["the default tenant's indices do not work or find no room"])
    await handle([event('default', 3), ...three('shop', 20)])
    expect(letters()).to.have.length(2)
    store.red.clear()
    await pass(65)
    await handle([event('default', 4)])
    expect(own('default').map(({ id }) => id)).to.deep.equal(['a-default-1', 'a-default-4'])
    expect(letters()).to.have.length(2)
  })

  it('looks after those that wait without being started again, while the index of their tenant stays red', async () => {
    await handle([event('ill', 1), event('default', 1), ...three('shop')])
    nowMs += 10_000
    store.red.add(anomaliesIndex('ill'))
    await untilHandled([...three('ill', 2), ...three('shop', 10)])
    expect(waiting().length).to.equal(3)
    await pass(150)
    expect(waiting().length).to.equal(3)
    store.red.clear()
    await pass(70)
    expect(waiting()).to.deep.equal([])
    expect(own('ill').length).to.equal(4)
  })

  it('gives nothing up while every index is red, or some are on their way', async () => {
    await handle([event('default', 1), ...three('shop')])
    for (const index of [...lifecycleIndices('default'), ...lifecycleIndices('shop')]) store.red.add(index)
    const batch = [event('default', 2), ...three('shop', 10)]
    expect(await triedFor(300, batch)).to.equal(false)
    for (const index of lifecycleIndices('shop')) store.red.delete(index)
    const { indexHealth } = store
    store.indexHealth = async () => new Map([...(await indexHealth()), ['service-x', { isRed: true, isStarting: true }]])
    expect(await triedFor(300, batch)).to.equal(false)
    expect(letters()).to.deep.equal([])
    store.red.clear()
    store.indexHealth = indexHealth
    await untilHandled(batch)
    expect(own('default').length).to.equal(2)
    expect(own('shop').length).to.equal(6)
    expect(letters()).to.deep.equal([])
  })

  it('starts without what it cannot read of a tenant whose index is red, and goes on with the others', async () => {
    await handle([...three('ill').slice(0, 1), event('default', 1), ...three('shop')])
    for (const red of ['ill', 'default']) {
      nowMs += 10_000
      store.red.add(anomaliesIndex(red))
      open(store)
      await work.prepare?.()
      await work.memory?.restore([event('ill', 1), event('default', 1), ...three('shop')])
      await work.idle?.()
      await handle(three('shop', red === 'ill' ? 10 : 20))
      store.red.clear()
    }
    expect(own('shop').length).to.equal(9)
    expect(incidents('shop').map(({ anomalyCount }) => anomalyCount)).to.deep.equal([9])
  })

  it('goes on with the last known minimumScore and lookbackWindow while their index is red, and with the defaults after a restart', async () => {
    const setMinimumScore = (minimumScore: number) =>
      store.put(CONFIG_INDEX, anomalyConfigId('strict'), { section: 'ticketing.anomaly', value: { minimumScore, lookbackWindow: '15m' } })
    await setMinimumScore(0.95)
    await handle([event('strict', 1, { score: 0.9, service: 'cart' })])
    nowMs += 10_000
    store.red.add(CONFIG_INDEX)
    await handle([event('strict', 2, { score: 0.9, service: 'cart' }), ...three('shop')])
    expect(incidents('strict')).to.deep.equal([])
    expect(incidents('shop')).to.have.length(1)

    open(store)
    await handle([event('strict', 3, { score: 0.9, service: 'pay' })])
    expect(incidents('strict')).to.have.length(1)
    const warning = 'the configuration of tenants cannot be read: the last known one holds, else the defaults'
    expect(warnings).to.deep.equal([warning, warning])

    store.red.clear()
    nowMs += 10_000
    await handle([event('strict', 4, { score: 0.9, service: 'order' })])
    expect(incidents('strict')).to.have.length(1)
    expect(letters()).to.deep.equal([])
  })

  it('takes no defaults for a tenant whose configuration cannot be read because the store is overloaded', async () => {
    await handle(three('shop').slice(0, 1))
    const { getMany } = store
    store.getMany = async (index, ids, fields) => {
      if (index === CONFIG_INDEX) throw new SearchStoreUnavailable('429')
      return getMany(index, ids, fields)
    }
    nowMs += 1_000
    await handle(three('shop', 2))
    expect(incidents('shop')).to.have.length(1)
    expect(await handle([event('new', 1)]).catch((error: Error) => error)).to.be.instanceOf(SearchStoreUnavailable)
    store.getMany = getMany
    open(store)
    await handle([event('new', 1)])
    expect(own('new').length).to.equal(1)
  })

  it('does the same on the embedded store', async function () {
    this.timeout(30_000)
    const embedded = await startEmbeddedSearchStore()
    try {
      open(embedded.store)
      await work.prepare?.()
      await handle(three('shop').slice(0, 1))
      await handle([...Array.from({ length: 30 }, (_, i) => event(`new${i}`, 1)), ...three('shop', 2)])
      const count = async (index: string) => (await embedded.store.search({ index, body: { size: 0, track_total_hits: true } })).total
      expect(await count(incidentsIndex('shop'))).to.equal(1)
      expect(await count(anomaliesIndex('default'))).to.be.within(1, 25)
      await pass(5)
      expect(await count(anomaliesIndex('default'))).to.equal(0)
      expect(await count('service-anomalies-new*')).to.equal(30)
    } finally {
      await embedded.stop()
    }
  })
})
