import { CONFIG_INDEX } from '../contract/indices.ts'
import { DEFAULT_TENANT } from '../contract/tenant-id.ts'
import {
  type AnomalyConfig,
  anomalyConfigId,
  effectiveAnomalyConfig,
  type StoredAnomalyConfig,
} from '../domain/incidents/anomaly-config.ts'
import type { DeclaredAnomaly } from '../ports/declared-ticketing.ts'
import type { SearchStore } from '../ports/search-store.ts'

/** By tenant, in one request: for each field the declared value, else the tenant's, else the default tenant's, else the specification's default (Decisions 6). */
export async function loadAnomalyConfigs(
  store: SearchStore,
  tenants: readonly string[],
  declared: DeclaredAnomaly = {},
): Promise<ReadonlyMap<string, AnomalyConfig>> {
  const stored = await loadStored(store, tenants)
  const configOf = (tenant: string) =>
    effectiveAnomalyConfig(stored.get(anomalyConfigId(tenant)) ?? stored.get(anomalyConfigId(DEFAULT_TENANT)), declared)
  return new Map(tenants.map(tenant => [tenant, configOf(tenant)]))
}

async function loadStored(store: SearchStore, tenants: readonly string[]): Promise<ReadonlyMap<string, Partial<AnomalyConfig>>> {
  const ids = [...new Set([...tenants, DEFAULT_TENANT])].map(anomalyConfigId)
  const found = await store.getMany<StoredAnomalyConfig>(CONFIG_INDEX, ids)
  return new Map([...found].map(([id, { source }]) => [id, source.value]))
}
