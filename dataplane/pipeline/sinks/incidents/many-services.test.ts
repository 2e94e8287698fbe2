/** Many services that fail at once: how often the store is asked, and that all of them become the incidents that they would become alone. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { ALL_LOGS, anomaliesIndex, incidentsIndex } from '../../../contract/indices.ts'
import type { Anomaly } from '../../../domain/anomalies/anomaly.ts'
import { createGrouping } from '../../../domain/incidents/grouping.ts'
import type { StoredIncident } from '../../../domain/incidents/stored-incident.ts'
import { portionsOf } from '../../../limits/portions-of.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { startEmbeddedSearchStore } from '../../../testing/embedded-search-store.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createMemorySearchStore } from '../../../testing/memory-search-store.ts'
import { putIndexTemplates } from '../../../testing/put-index-templates.ts'
import { createGroupingConfigs } from './grouping-configs.ts'
import { createIncidentOpener } from './open-incidents.ts'
import { createServiceIncidents } from './service-incidents.ts'

const START_MS = Date.UTC(2026, 10, 21, 12)
const SERVICES = 600

function anomaly(service: string, n: number): Anomaly {
  return {
    ...{ id: `a-${service}-${n}`, log_id: `l-${service}-${n}`, document_id: `d-${service}-${n}` },
    ...{ timestamp: new Date(START_MS + n * 1_000).toISOString(), tenant_id: 'shop', service, level: 'ERROR', message: 'm' },
    ...{ pattern_id: 'p', pattern: 'm', score: 0.5, anomaly_score: 0, detectors: ['rule'], reasons: [] },
  }
}

const services = (count: number) => Array.from({ length: count }, (_, i) => `s-${i}`)
const threeOf = (names: readonly string[], from = 0) => names.flatMap(name => [0, 1, 2].map(n => anomaly(name, from + n)))

/** A store that counts the searches of an index. */
function counting(store: SearchStore) {
  const searches = new Map<string, number>()
  const counted: SearchStore = {
    ...store,
    search(request) {
      searches.set(request.index, (searches.get(request.index) ?? 0) + 1)
      return store.search(request)
    },
  }
  return { store: counted, searches: (index: string) => searches.get(index) ?? 0 }
}

function openerOn(store: SearchStore) {
  const clock = createFakeClock(START_MS)
  const signal = new AbortController().signal
  return { clock, ...createIncidentOpener({ store, clock, signal, configs: createGroupingConfigs({ store, clock, log: SILENT }) }) }
}

const incidentsIn = (store: ReturnType<typeof createMemorySearchStore>) =>
  [...store.documents(incidentsIndex('shop')).values()] as unknown as StoredIncident[]

describe('many services that fail at once', () => {
  it('make an incident each, with a few searches for all of them together', async () => {
    const memory = createMemorySearchStore()
    const { store, searches } = counting(memory)
    const opener = openerOn(store)
    await opener.handle(threeOf(services(SERVICES)))
    expect(incidentsIn(memory).map(({ service }) => service)).to.have.members(services(SERVICES))
    expect(incidentsIn(memory).every(({ anomalyCount }) => anomalyCount === 3)).to.equal(true)
    expect(searches(incidentsIndex('shop')), 'for open incidents').to.be.at.most(3)
    expect(searches(ALL_LOGS), 'for the past of the services').to.be.at.most(3)
  })

  it('fold into their incidents also where grouping had to forget them for want of room', async () => {
    const memory = createMemorySearchStore()
    const opener = openerOn(memory)
    await opener.handle(threeOf(['first']))
    const grouping = createGrouping()
    const known = createServiceIncidents({ store: memory, clock: opener.clock, grouping })
    const next = anomaly('first', 3)
    for (let time = 0; time < 2; time++) {
      await known.refresh([next])
      const incident = { tenant: 'shop', service: 'first', incidentId: incidentsIn(memory)[0]!.id }
      expect(grouping.keeps(incident)).to.equal(true)
      grouping.forget(incident)
      opener.clock.advance(2_000)
    }
  })

  it('go on in the incidents that are open, after a restart, too', async () => {
    const memory = createMemorySearchStore()
    await openerOn(memory).handle(threeOf(services(SERVICES)))
    const { store, searches } = counting(memory)
    await openerOn(store).handle(services(SERVICES).map(name => anomaly(name, 3)))
    expect(incidentsIn(memory)).to.have.length(SERVICES)
    expect(incidentsIn(memory).every(({ anomalyCount }) => anomalyCount === 4)).to.equal(true)
    // Halves, until each answer holds all incidents of its services.
    expect(searches(incidentsIndex('shop'))).to.be.at.most(7)
  })

  it('do not take the share of the store that the baselines of other tenants need', async function () {
    this.timeout(60_000)
    const embedded = await startEmbeddedSearchStore()
    try {
      await putIndexTemplates(embedded.store)
      const timestamp = new Date(START_MS - 3_600_000).toISOString()
      await embedded.store.bulk(
        services(SERVICES).map(service => ({
          ...{ action: 'create', index: 'service-logs-2026.11.21', id: service },
          body: JSON.stringify({ timestamp, tenant_id: 'shop', service, pattern_id: 'p', message: 'm' }),
        })),
      )
      await embedded.store.refresh(ALL_LOGS)
      const { store, searches } = counting(embedded.store)
      await openerOn(store).handle(threeOf(services(SERVICES)))
      await store.refresh(incidentsIndex('shop'))
      const { total } = await store.search({ index: incidentsIndex('shop'), body: { size: 0, track_total_hits: true } })
      expect(total).to.equal(SERVICES)
      expect(searches(ALL_LOGS), 'two for each of a hundred baselines').to.be.within(200, 205)
    } finally {
      await embedded.stop()
    }
  })

  it('have incidents that are counted again for one that was forgotten, not for all', async function () {
    this.timeout(60_000)
    const memory = createMemorySearchStore()
    const { store, searches } = counting(memory)
    const opener = openerOn(store)
    for (const some of portionsOf(services(10_100), 5_050)) await opener.handle(threeOf(some))
    opener.clock.advance(10_000)
    const before = searches(anomaliesIndex('shop'))
    await opener.handle(services(200).map(name => anomaly(name, 3)))
    expect(searches(anomaliesIndex('shop')) - before).to.equal(100)
    await opener.handle(
      services(10_100)
        .slice(5_000, 5_100)
        .map(name => anomaly(name, 3)),
    )
    expect(searches(anomaliesIndex('shop')) - before).to.equal(100)
  })
})
