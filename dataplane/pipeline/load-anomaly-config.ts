import { CONFIG_INDEX } from '../contract/indices.ts'
import { DEFAULT_TENANT } from '../contract/tenant-id.ts'
import { type AnomalyConfig, anomalyConfigId, DEFAULT_ANOMALY_CONFIG, type StoredAnomalyConfig } from '../domain/anomaly-config.ts'
import type { DeclaredAnomaly } from '../ports/declared-ticketing.ts'
import type { SearchStore } from '../ports/search-store.ts'

/** What is declared, else what a tenant set, else what the default tenant set, else the specification's defaults (Decisions 6). */
export async function loadAnomalyConfig(store: SearchStore, tenant: string, declared: DeclaredAnomaly = {}): Promise<AnomalyConfig> {
  const { minimumScore, lookbackWindow } = declared
  if (minimumScore !== undefined && lookbackWindow !== undefined) return { minimumScore, lookbackWindow }
  const stored = await loadStored(store, tenant)
  return { minimumScore: minimumScore ?? stored.minimumScore, lookbackWindow: lookbackWindow ?? stored.lookbackWindow }
}

async function loadStored(store: SearchStore, tenant: string): Promise<AnomalyConfig> {
  for (const owner of new Set([tenant, DEFAULT_TENANT])) {
    const stored = await store.get<StoredAnomalyConfig>(CONFIG_INDEX, anomalyConfigId(owner))
    if (stored !== undefined) return stored.source.value
  }
  return DEFAULT_ANOMALY_CONFIG
}
