import { expect } from 'chai'
import { describe, it } from 'mocha'
import { anomaliesIndex, auditIndex, incidentsIndex } from '../../../contract/indices.ts'
import type { Anomaly } from '../../../domain/anomalies/anomaly.ts'
import type { Incident } from '../../../domain/incidents/incident-fields.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type SearchStore, SearchStoreUnavailable } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createMemorySearchStore } from '../../../testing/memory-search-store.ts'
import { createGroupingConfigs } from './grouping-configs.ts'
import { createIncidentOpener } from './open-incidents.ts'

const START_MS = Date.UTC(2026, 10, 21, 12)
const signal = new AbortController().signal

function clockAt(startMs: number): Clock & { nowMs: () => number; advance(ms: number): void } {
  let nowMs = startMs
  return {
    nowMs: () => nowMs,
    sleep: async () => {},
    advance(ms) {
      nowMs += ms
    },
  }
}

function openerOn(store: SearchStore, clock = clockAt(START_MS), declaredAnomaly = () => ({})) {
  return createIncidentOpener({ store, clock, signal, configs: createGroupingConfigs({ store, clock, log: SILENT, declaredAnomaly }) })
}

function anomaly(
  n: number,
  { service = 'checkout', atMs = START_MS + n * 1_000, score = 0.5, ...rest }: Partial<Anomaly> & { atMs?: number } = {},
): Anomaly {
  return {
    id: `a-${service}-${n}`,
    log_id: `l-${n}`,
    document_id: `d-${service}-${n}`,
    timestamp: new Date(atMs).toISOString(),
    tenant_id: 'default',
    service,
    level: 'ERROR',
    message: `failed ${n}`,
    pattern_id: '0000000000000001',
    pattern: 'failed <num>',
    score,
    anomaly_score: 0,
    detectors: ['rule'],
    reasons: [],
    ...rest,
  }
}

function incidentsIn(store: ReturnType<typeof createMemorySearchStore>): readonly Incident[] {
  return [...store.documents(incidentsIndex('default')).values()] as unknown as Incident[]
}

/** Fails, like a crash, once `writes` calls that write have gone through; the last one's effect is there, its answer is not. */
function crashingAfter(store: SearchStore, writes: number): SearchStore {
  let left = writes
  const write = async <T>(call: () => Promise<T>): Promise<T> => {
    if (left <= 0) throw new Error('crash')
    const answer = await call()
    left--
    if (left === 0) throw new Error('crash')
    return answer
  }
  return {
    ...store,
    bulk: operations => write(() => store.bulk(operations)),
    put: (index, id, document, condition) => write(() => store.put(index, id, document, condition)),
  }
}

describe('the lifecycle thread', () => {
  it('opens an incident when a service has 3 anomalies within 5 minutes, with the audit entry created', async () => {
    const store = createMemorySearchStore()
    const opener = openerOn(store)
    await opener.handle([anomaly(1), anomaly(2)])
    expect(incidentsIn(store)).to.deep.equal([])
    await opener.handle([anomaly(3)])
    const [incident, ...others] = incidentsIn(store)
    expect(others).to.deep.equal([])
    expect(incident).to.include({ service: 'checkout', status: 'open', severity: 'medium', anomalyCount: 3, tenantId: 'default' })
    const anomalies = [...store.documents(anomaliesIndex('default')).values()]
    expect(anomalies.map(({ incident_id }) => incident_id)).to.deep.equal(Array(3).fill(incident!.id))
    const audit = [...store.documents(auditIndex('default')).values()]
    expect(audit.map(({ action, incident_id }) => ({ action, incident_id }))).to.deep.equal([
      { action: 'created', incident_id: incident!.id },
    ])
  })

  it('opens one for a service with a slash in its name, beside one whose name is the part before it', async () => {
    const store = createMemorySearchStore()
    const services = ['shop', 'shop/checkout']
    await openerOn(store).handle(services.flatMap(service => [1, 2, 3].map(n => anomaly(n, { service }))))
    expect(incidentsIn(store).map(({ service, anomalyCount }) => [service, anomalyCount])).to.have.deep.members(
      services.map(service => [service, 3]),
    )
  })

  it('opens one for a single anomaly that reaches minimumScore', async () => {
    const store = createMemorySearchStore()
    const opener = openerOn(store)
    await opener.handle([anomaly(1, { score: 0.85 })])
    expect(incidentsIn(store).map(({ anomalyCount, severity }) => ({ anomalyCount, severity }))).to.deep.equal([
      { anomalyCount: 1, severity: 'high' },
    ])
  })

  it('what is declared wins over the minimumScore of the tenant', async () => {
    const store = createMemorySearchStore()
    const declaredAnomaly = () => ({ minimumScore: 0.95 })
    const opener = openerOn(store, clockAt(START_MS), declaredAnomaly)
    await opener.handle([anomaly(1, { score: 0.9 })])
    expect(incidentsIn(store)).to.deep.equal([])
    await opener.handle([anomaly(2, { score: 0.95 })])
    expect(incidentsIn(store)).to.have.length(1)
  })

  it('folds further anomalies in, each counted once however often it comes', async () => {
    const store = createMemorySearchStore()
    const clock = clockAt(START_MS)
    const opener = openerOn(store, clock)
    await opener.handle([anomaly(1), anomaly(2), anomaly(3), anomaly(4)])
    clock.advance(5_000)
    await opener.handle([anomaly(4), anomaly(5), anomaly(5)])
    expect(await opener.handle([anomaly(1), anomaly(5)])).to.deep.equal({ created: 0, errors: 0, refused: [] })
    const [incident] = incidentsIn(store)
    expect(incident).to.include({ anomalyCount: 5, updatedAt: new Date(START_MS + 5_000).toISOString() })
    expect(incident!.evidence[0]!.count).to.equal(5)
  })

  it('an incident is read for its first fold, and again where somebody else has changed it since the last', async () => {
    const store = createMemorySearchStore()
    let reads = 0
    const counting: SearchStore = {
      ...store,
      get(index, id) {
        reads++
        return store.get(index, id)
      },
    }
    const opener = openerOn(counting)
    await opener.handle([anomaly(1), anomaly(2), anomaly(3)])
    await opener.handle([anomaly(4)])
    const before = reads
    await opener.handle([anomaly(5)])
    await opener.handle([anomaly(6)])
    expect(reads).to.equal(before)
    const [incident] = incidentsIn(store)
    await store.put(incidentsIndex('default'), incident!.id, { ...incident, title: 'changed by hand' })
    await opener.handle([anomaly(7)])
    expect(reads).to.equal(before + 1)
    expect(incidentsIn(store).map(({ title, anomalyCount }) => ({ title, anomalyCount }))).to.deep.equal([
      { title: 'changed by hand', anomalyCount: 7 },
    ])
  })

  it('folds into an incident whose optional fields are null, and opens one beside an incident that is of no use', async () => {
    const store = createMemorySearchStore()
    const opener = openerOn(store)
    await opener.handle([anomaly(1), anomaly(2), anomaly(3)])
    const [{ id }] = incidentsIn(store) as [Incident]
    const index = incidentsIndex('default')
    const stored = (await store.get<Incident>(index, id))!
    const broken = { ...stored.source, evidence: null, affectedServices: null, platforms: null, updatedAt: null, lastChange: null }
    await store.put(index, id, broken, stored)
    await store.put(index, 'useless', { service: 'payment', status: 'open', lastSeen: null, severity: 'none' })
    // After a restart.
    const other = openerOn(store)
    await other.handle([anomaly(4), ...[1, 2, 3].map(n => anomaly(n, { service: 'payment' }))])
    const folded = (await store.get<Incident>(index, id))!.source
    expect(folded.anomalyCount).to.equal(4)
    expect(folded.evidence.map(({ count }) => count)).to.deep.equal([4])
    expect(incidentsIn(store).filter(({ service, title }) => service === 'payment' && title !== undefined)).to.have.length(1)
  })

  it('has the ticketing agent look at an incident that is recurring no longer', async () => {
    const store = createMemorySearchStore()
    const opener = openerOn(store)
    await opener.handle([anomaly(1), anomaly(2), anomaly(3)])
    const index = incidentsIndex('default')
    const [{ id }] = incidentsIn(store) as [Incident]
    const ticketing = { takenAt: new Date(START_MS).toISOString(), quietBy: 'recurring' }
    await store.put(index, id, { ...(await store.get<Incident>(index, id))!.source, recurring: true, ticketing })
    await opener.handle([anomaly(4, { pattern_id: '0000000000000002', pattern: 'never seen' })])
    const seen = (await store.get<Incident & { ticketing: object }>(index, id))!.source
    expect(seen.recurring).to.equal(false)
    expect(seen.ticketing).to.deep.equal({ ...ticketing, attentionAt: new Date(START_MS).toISOString() })
  })

  it('opens another once the first is resolved', async () => {
    const store = createMemorySearchStore()
    const clock = clockAt(START_MS)
    const opener = openerOn(store, clock)
    await opener.handle([anomaly(1), anomaly(2), anomaly(3)])
    const [first] = incidentsIn(store)
    await store.put(incidentsIndex('default'), first!.id, { ...first, status: 'resolved' })
    // At once: the opener finds out when it writes.
    await opener.handle([anomaly(4), anomaly(5)])
    clock.advance(2_000)
    await opener.handle([anomaly(6)])
    const counts = incidentsIn(store).map(({ status, anomalyCount }) => ({ status, anomalyCount }))
    expect(counts).to.deep.equal([
      { status: 'resolved', anomalyCount: 3 },
      { status: 'open', anomalyCount: 3 },
    ])
  })

  it('gives the same incidents when it crashes at any write and the batch comes again', async () => {
    const batches = [
      [anomaly(1), anomaly(1, { service: 'cart' }), anomaly(2)],
      [anomaly(3), anomaly(2, { service: 'cart' }), anomaly(3, { service: 'cart' }), anomaly(4)],
      [anomaly(5), anomaly(6), anomaly(4, { service: 'cart' })],
    ]
    const expected = await play(batches, Number.POSITIVE_INFINITY)
    expect(expected.incidents.map(({ anomalyCount }) => anomalyCount)).to.deep.equal([4, 6])
    for (let writes = 1; writes < expected.writes; writes++) {
      const { incidents } = await play(batches, writes)
      expect(incidents, `crash after write ${writes}`).to.deep.equal(expected.incidents)
    }
  })

  it('knows the traces of anomalies that were stored before a crash and come again, never committed', async () => {
    const store = createMemorySearchStore()
    const traced = (service: string) => [1, 2, 3].map(n => anomaly(n, { service, trace_id: 't' }))
    await openerOn(store).handle(traced('checkout'))
    await openerOn(store).handle([...traced('checkout'), ...traced('cart')])
    const affected = incidentsIn(store).map(({ service, affectedServices }) => [service, [...affectedServices].sort()])
    expect(affected).to.deep.equal([
      ['checkout', ['cart', 'checkout']],
      ['cart', ['cart', 'checkout']],
    ])
  })

  it('fails without a result when the store is away, so that the batch comes again', async () => {
    const store = createMemorySearchStore()
    const opener = openerOn(store)
    store.unavailable = true
    const error = await opener.handle([anomaly(1)]).catch((reason: Error) => reason)
    expect(error).to.be.instanceOf(SearchStoreUnavailable)
  })
})

/** Handles the batches with one crash on the way: a new opener restores what was done and goes on with the batch that failed. */
async function play(batches: readonly (readonly Anomaly[])[], crashAfter: number) {
  const store = createMemorySearchStore()
  let writes = 0
  const counting: SearchStore = {
    ...store,
    bulk: async operations => {
      writes++
      return await store.bulk(operations)
    },
    put: async (index, id, document, condition) => {
      writes++
      return await store.put(index, id, document, condition)
    },
  }
  const clock = clockAt(START_MS)
  let opener = openerOn(crashingAfter(counting, crashAfter), clock)
  for (const [i, batch] of batches.entries()) {
    try {
      await opener.handle(batch)
    } catch {
      opener = openerOn(counting, clock)
      await opener.restore(batches.slice(0, i).flat())
      await opener.handle(batch)
    }
  }
  const incidents = incidentsIn(store)
    .map(({ service, status, severity, anomalyCount, evidence, firstSeen, lastSeen }) => {
      return { service, status, severity, anomalyCount, firstSeen, lastSeen, patterns: evidence.map(({ count }) => count) }
    })
    .sort((a, b) => (a.service < b.service ? -1 : 1))
  return { incidents, writes }
}
