/** Whether an incident is recurring, whichever search store holds the records of the time before. */
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { anomaliesIndex, auditIndex, incidentsIndex } from '../../../contract/indices.ts'
import type { Anomaly } from '../../../domain/anomalies/anomaly.ts'
import type { Incident } from '../../../domain/incidents/incident-fields.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { putIndexTemplates } from '../../../testing/put-index-templates.ts'
import { createGroupingConfigs } from '../incidents/grouping-configs.ts'
import { createIncidentOpener } from '../incidents/open-incidents.ts'

/** A day that nothing else writes to. */
const AT_MS = Date.UTC(2021, 2, 5, 10)
const LOGS = 'service-logs-2021.03.05'
const TENANT = 'recurrence-a'
const MINUTE_MS = 60_000

export function describeRecurrence(name: string, open: () => Promise<{ store: SearchStore; stop(): Promise<void> }>): void {
  describe(`recurring on ${name}: what an incident consists of is nothing new for this service`, () => {
    let store: SearchStore
    let stop = async () => {}
    let ids = 0

    before(async function () {
      this.timeout(30_000)
      ;({ store, stop } = await open())
      await putIndexTemplates(store)
      await clean()
      await log('checkout', 'all-day', 60, 1)
      await log('checkout', 'of-late', 3, 0.1)
      await log('young', 'all-day', 8, 0.5)
      for (let hours = 8; hours > 0; hours--) await log('hourly', 'of-a-job', hours * 60, 0.2, 4)
      await store.refresh(LOGS)
    })
    const clean = async () => {
      for (const index of [LOGS, ...[incidentsIndex, anomaliesIndex, auditIndex].map(of => of(TENANT))]) await store.deleteIndex(index)
    }
    after(async () => {
      await clean()
      await stop()
    })

    /** Records of a pattern from some minutes before, one every so many minutes. */
    const log = (service: string, pattern_id: string, minutes: number, everyMinutes: number, length = Math.floor(minutes / everyMinutes)) =>
      store.bulk(
        Array.from({ length }, (_, n) => ({
          action: 'create' as const,
          index: LOGS,
          id: `recurrence-${ids++}`,
          body: JSON.stringify({
            timestamp: new Date(AT_MS - (minutes - n * everyMinutes) * MINUTE_MS).toISOString(),
            tenant_id: TENANT,
            service,
            pattern_id,
            level: 'ERROR',
            message: 'm',
          }),
        })),
      )

    const anomaly = (service: string, pattern_id: string, rest: Partial<Anomaly> = {}): Anomaly => {
      const n = ids++
      return {
        ...{ id: `a-${n}`, log_id: `l-${n}`, document_id: `d-${n}`, tenant_id: TENANT, service, level: 'ERROR', message: 'm' },
        ...{ timestamp: new Date(AT_MS + n).toISOString(), pattern_id, pattern: 'm', score: 0.5, anomaly_score: 0, detectors: ['rule'] },
        reasons: [],
        ...rest,
      }
    }
    const three = (service: string, pattern_id: string) => Array.from({ length: 3 }, () => anomaly(service, pattern_id))

    const openerOn = (on: SearchStore, clock = createFakeClock(AT_MS)) => {
      const signal = new AbortController().signal
      return createIncidentOpener({ store: on, clock, signal, configs: createGroupingConfigs({ store: on, clock, log: SILENT }) })
    }

    /** The one incident that anomalies make, after each portion of them. */
    const recurringAfter = async (portions: readonly (readonly Anomaly[])[], on = store): Promise<readonly unknown[]> => {
      for (const index of [incidentsIndex, anomaliesIndex]) await store.deleteIndex(index(TENANT))
      const opener = openerOn(on)
      const seen: unknown[] = []
      for (const portion of portions) {
        await opener.handle(portion)
        await store.refresh(incidentsIndex(TENANT))
        const { hits } = await store.search<Incident>({ index: incidentsIndex(TENANT), body: { query: { match_all: {} } } })
        expect(hits).to.have.length(1)
        seen.push(hits[0]!.source.recurring)
      }
      return seen
    }

    it('each of its patterns came at a like rate throughout the baseline', async () => {
      expect(await recurringAfter([three('checkout', 'all-day')])).to.deep.equal([true])
    })

    it('not when a pattern came of late alone, or never', async () => {
      expect(await recurringAfter([three('checkout', 'of-late')])).to.deep.equal([false])
      expect(await recurringAfter([three('checkout', 'never')])).to.deep.equal([false])
    })

    it('not with less than 10 minutes of records of the service', async () => {
      expect(await recurringAfter([three('young', 'all-day')])).to.deep.equal([false])
    })

    it('or in regular bursts, as a job of each hour makes them; more of them is news', async () => {
      const burst = (count: number) => Array.from({ length: count }, () => anomaly('hourly', 'of-a-job'))
      expect(await recurringAfter([burst(3), burst(1), burst(12)])).to.deep.equal([true, true, false])
    })

    it('becomes false for good as soon as that no longer holds', async () => {
      const portions = [
        three('checkout', 'all-day'),
        [anomaly('checkout', 'all-day')],
        [anomaly('checkout', 'never')],
        three('checkout', 'all-day'),
      ]
      expect(await recurringAfter(portions)).to.deep.equal([true, true, false, false])
    })

    it('and when a signal finds a change', async () => {
      const odd = anomaly('checkout', 'all-day', { signal: 'delay: slower' })
      expect(await recurringAfter([three('checkout', 'all-day'), [odd]])).to.deep.equal([true, false])
    })

    it('false when the store does not tell; the incident is made all the same', async () => {
      const deaf: SearchStore = { ...store, search: async request => (request.index === 'service-logs-*' ? fail() : store.search(request)) }
      expect(await recurringAfter([three('checkout', 'all-day')], deaf)).to.deep.equal([false])
    })

    it('asked for again ten seconds later, also when the clock was set back meanwhile', async () => {
      for (const index of [incidentsIndex, anomaliesIndex]) await store.deleteIndex(index(TENANT))
      let isDeaf = true
      const clock = createFakeClock(AT_MS)
      const opener = openerOn(
        { ...store, search: async request => (isDeaf && request.index === 'service-logs-*' ? fail() : store.search(request)) },
        clock,
      )
      await opener.handle(three('young', 'all-day'))
      isDeaf = false
      clock.shiftTimeOfDay(-3_600_000)
      clock.advance(10_000)
      await opener.handle(three('checkout', 'all-day'))
      await store.refresh(incidentsIndex(TENANT))
      const body = { query: { term: { service: 'checkout' } } }
      const { hits } = await store.search<Incident>({ index: incidentsIndex(TENANT), body })
      expect(hits.map(({ source }) => source.recurring)).to.deep.equal([true])
    })
  })
}

function fail(): never {
  throw new Error('no answer')
}
