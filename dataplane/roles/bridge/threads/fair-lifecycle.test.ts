/** The lifecycle thread while one tenant's anomalies come in thousands: when the others' are worked on, and that all become the same incidents. */
import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { incidentsIndex } from '../../../contract/indices.ts'
import type { Anomaly } from '../../../domain/anomalies/anomaly.ts'
import type { StoredIncident } from '../../../domain/incidents/stored-incident.ts'
import { encodeAnomalyEvent } from '../../../pipeline/anomaly-event.ts'
import { LeftUndone } from '../../../pipeline/runners/work.ts'
import type { ConsumedRecord } from '../../../ports/bus.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createMemorySearchStore } from '../../../testing/memory-search-store.ts'
import { createRecordingBus } from '../../../testing/recording-bus.ts'
import { createLifecycleWork } from './lifecycle.ts'
import type { ThreadDeps } from './thread-deps.ts'

const START_MS = Date.UTC(2026, 10, 21, 12)
/** Services of a round. */
const ROUND = 500

interface Given {
  readonly tenant: string
  readonly service: string
  readonly n: number
  readonly trace?: string
}

function event({ tenant, service, n, trace }: Given): ConsumedRecord {
  const id = `${tenant}-${service}-${n}`
  const anomaly: Anomaly = {
    ...{ id: `a-${id}`, log_id: `l-${id}`, document_id: `d-${id}`, tenant_id: tenant, service, level: 'ERROR', message: 'failed' },
    ...{ timestamp: new Date(START_MS + n * 1_000).toISOString(), pattern_id: 'p', pattern: 'failed', score: 0.5, anomaly_score: 0 },
    ...{ detectors: ['rule'], reasons: [], ...(trace !== undefined && { trace_id: trace }) },
  }
  const { key, value, headers } = encodeAnomalyEvent(anomaly, { key: '', value: Buffer.from('{}'), headers: {} })
  return { topic: 'anomaly', partition: 0, offset: 0, timestampMs: START_MS, key, value, headers: headers ?? {} }
}

const threeOf = (tenant: string, services: number, from = 0): readonly ConsumedRecord[] =>
  Array.from({ length: services }, (_, i) => [0, 1, 2].map(n => event({ tenant, service: `s-${from + i}`, n }))).flat()

describe('the lifecycle thread while one tenant has thousands of anomalies', () => {
  let store: ReturnType<typeof createMemorySearchStore>
  beforeEach(() => {
    store = createMemorySearchStore()
  })

  const open = (on: SearchStore = store) => {
    const bus = createRecordingBus()
    const settings = { ANOMALY_TOPIC: 'anomaly', DEAD_LETTER_TOPIC: 'dead' }
    const clock = createFakeClock(START_MS)
    const deps = { settings, bus, clock, count: () => {}, log: SILENT, signal: new AbortController().signal }
    const work = createLifecycleWork(deps as unknown as ThreadDeps, on)
    return { handle: (records: readonly ConsumedRecord[]) => work.handle(records, bus), leave: () => work.leave!() }
  }
  const incidents = (tenant: string) => [...store.documents(incidentsIndex(tenant)).values()] as unknown as StoredIncident[]
  const seen = (tenant: string) =>
    incidents(tenant)
      .map(({ id, service, severity, anomalyCount, affectedServices, firstSeen, lastSeen }) =>
        [id, service, severity, anomalyCount, [...affectedServices].sort(), firstSeen, lastSeen].join(' '),
      )
      .sort()

  it('makes the incident of another one within a round or two, though its anomalies came last', async () => {
    const { handle } = open()
    const flood = [0, 600, 1_200].map(from => handle(threeOf('flood', 600, from)))
    await handle(threeOf('shop', 1))
    expect(incidents('shop')).to.have.length(1)
    expect(incidents('flood').length).to.be.within(1, 2 * ROUND)
    await Promise.all(flood)
    expect(incidents('flood')).to.have.length(1_800)
  })

  /** Anomalies of three tenants, of services that share traces, over more than one round. */
  const mixed = (): readonly (readonly ConsumedRecord[])[] =>
    Array.from({ length: 8 }, (_, n) =>
      ['a', 'b', 'c'].flatMap((tenant, t) =>
        Array.from({ length: t === 0 ? 300 : 5 }, (_, s) => event({ tenant, service: `s-${s}`, n, trace: `t-${Math.floor(s / 2)}` })),
      ),
    )

  it('makes the same incidents of batches that come together as of batches that follow each other', async () => {
    const alone = open()
    for (const batch of mixed()) await alone.handle(batch)
    const expected = ['a', 'b', 'c'].map(seen)
    expect(expected.map(({ length }) => length)).to.deep.equal([300, 5, 5])
    store = createMemorySearchStore()
    const together = open()
    await Promise.all(mixed().map(batch => together.handle(batch)))
    expect(['a', 'b', 'c'].map(seen)).to.deep.equal(expected)
  })

  it('makes the same incidents when it ends in the midst of batches that were read ahead, and all of them come again', async function () {
    this.timeout(60_000)
    const whole = open()
    await Promise.all(mixed().map(batch => whole.handle(batch)))
    const expected = ['a', 'b', 'c'].map(seen)
    for (const writes of [1, 2, 150, 622, 700]) {
      store = createMemorySearchStore()
      const first = open(endingAfter(store, writes))
      const ends = await Promise.allSettled(mixed().map(batch => first.handle(batch)))
      expect(
        ends.some(({ status }) => status === 'rejected'),
        `write ${writes}`,
      ).to.equal(true)
      const second = open()
      await Promise.all(mixed().map(batch => second.handle(batch)))
      expect(['a', 'b', 'c'].map(seen), `write ${writes}`).to.deep.equal(expected)
    }
  })

  it('leaves undone what waits when it stops, so that a stop takes no longer than a round', async () => {
    const { handle, leave } = open()
    const first = handle(threeOf('shop', 1))
    const others = [0, 600].map(from => handle(threeOf('flood', 600, from)).catch((error: Error) => error))
    leave()
    await first
    for (const other of await Promise.all(others)) expect(other).to.be.instanceOf(LeftUndone)
    expect(incidents('flood').length).to.be.at.most(ROUND)
  })
})

/** A store that takes so many writes and then no more, as if the program had been killed. */
function endingAfter(store: SearchStore, writes: number): SearchStore {
  let left = writes
  const write = <T>(call: () => Promise<T>): Promise<T> => (left-- > 0 ? call() : Promise.reject(new Error('killed')))
  return {
    ...store,
    bulk: operations => write(() => store.bulk(operations)),
    put: (index, id, document, condition) => write(() => store.put(index, id, document, condition)),
  }
}
