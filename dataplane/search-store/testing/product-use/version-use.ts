/** Requests of the console for another version of a service: records by tenant, service and version. */
import { findVersionChange, type VersionRecord } from '../../../console/pages/incidents/rules/version-change.ts'
import type { SearchBody } from '../../../console/pages/logs/requests/scope.ts'
import { LOGS_PREFIX } from '../../../contract/indices.ts'
import type { BulkOperation } from '../../../ports/search-store.ts'
import type { RecordedStore } from './recorded-store.ts'

const TENANT = 'version-use'
const INDEX = `${LOGS_PREFIX}2026.01.02`
const AT_MS = Date.parse('2026-01-02T12:00:00Z')
const MINUTE_MS = 60_000

/** A service that changes its version at 11:55, one that does not, and one of another tenant. */
function documents(): readonly BulkOperation[] {
  const record = (minutes: number, service: string, version: string | undefined, tenant = TENANT) => ({
    timestamp: new Date(AT_MS - minutes * MINUTE_MS).toISOString(),
    tenant_id: tenant,
    service,
    level: 'INFO',
    message: 'served',
    ...(version !== undefined && { attributes: { 'service.version': version, 'service.namespace': 'shop' } }),
  })
  const bodies = [
    ...Array.from({ length: 40 }, (_, i) => record(i + 1, 'payments', i < 5 ? '2.4.1' : i % 3 === 0 ? undefined : '2.4.0')),
    ...Array.from({ length: 40 }, (_, i) => record(i + 1, 'mailer', '7')),
    ...Array.from({ length: 10 }, (_, i) => record(i + 1, 'payments', '9.9', 'another')),
  ]
  return bodies.map((body, at) => ({ action: 'create' as const, index: INDEX, id: `${TENANT}-${at}`, body: JSON.stringify(body) }))
}

export async function useAsVersionReader({ store }: RecordedStore): Promise<unknown> {
  const search = async (body: SearchBody): Promise<readonly VersionRecord[]> =>
    (await store.search<VersionRecord>({ index: INDEX, body })).hits.map(({ source }) => source)
  const ask = (service: string) => findVersionChange(search, { service, tenant: TENANT, firstSeenMs: AT_MS })
  await store.bulk(documents())
  await store.refresh(INDEX)
  return { changed: await ask('payments'), same: (await ask('mailer')) ?? null, unknown: (await ask('nobody')) ?? null }
}
