/** Requests of `feature_compute` to the search store: counts, errors, latencies and anomalies of every tenant and service in an hour. */
import { anomaliesIndex, LOGS_PREFIX } from '../../../contract/indices.ts'
import { computeHour } from '../../../pipeline/features/compute-features.ts'
import type { BulkOperation } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createMemoryOnlineStore } from '../../../testing/memory-online-store.ts'
import type { RecordedStore } from './recorded-store.ts'

const HOUR = Date.UTC(2001, 6, 8, 9)
const HOUR_MS = 3_600_000
const TENANTS = ['features-a', 'features-b']
const LEVELS = ['INFO', 'ERROR', 'WARN', 'FATAL', 'DEBUG']
/** One value a service: the percentiles of others are estimates. */
const LATENCIES = [{ duration_ms: 12.5 }, { latency_ms: 40 }, { response_time_ms: 7 }, { 'http.server.request.duration': 0.25 }, {}]

function create(index: string, id: string, document: object): BulkOperation {
  return { action: 'create', index, id, body: JSON.stringify(document) }
}

/** 500 records of ten services in two tenants, a few outside the hour, and anomalies, also of a service without records. */
function documents(): readonly BulkOperation[] {
  const logs = Array.from({ length: 500 }, (_, i) => {
    const service = i % 5
    const timestamp = new Date(HOUR + ((i * 37_000) % (HOUR_MS + 120_000)) - 60_000).toISOString()
    const fields = { tenant_id: TENANTS[Math.floor(i / 5) % 2], service: `service-${service}`, level: LEVELS[Math.floor(i / 10) % 5] }
    return create(`${LOGS_PREFIX}2001.07.08`, `features-${i}`, { timestamp, ...fields, ...LATENCIES[service], message: 'm' })
  })
  const anomalies = Array.from({ length: 40 }, (_, i) => {
    const timestamp = new Date(HOUR + HOUR_MS - i * HOUR_MS).toISOString()
    const tenant = TENANTS[i % 2]!
    return create(anomaliesIndex(tenant), `features-${i}`, { timestamp, tenant_id: tenant, service: i % 3 === 0 ? 'silent' : 'service-1' })
  })
  return [...logs, ...anomalies]
}

export async function useAsFeatureCompute({ store }: RecordedStore): Promise<unknown> {
  const online = createMemoryOnlineStore()
  const deps = { search: store, online, clock: createFakeClock(HOUR + HOUR_MS + 120_000), log: SILENT }
  const empty = await computeHour(deps, HOUR)
  const outcomes = await store.bulk(documents())
  const full = await computeHour(deps, HOUR)
  return { empty, outcomes, full, rows: online.rows().toSorted((a, b) => (a.tenant + a.service < b.tenant + b.service ? -1 : 1)) }
}
