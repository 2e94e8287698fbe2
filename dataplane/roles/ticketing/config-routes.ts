/** The runtime configuration, per tenant (Spec: Ticketing runtime configuration; Decisions 6). */
import { z } from 'zod'
import { CONFIG_INDEX } from '../../contract/indices.ts'
import { DEFAULT_TENANT } from '../../contract/tenant-id.ts'
import { type AnomalyConfig, anomalyConfigId, LOOKBACK_RULE, parseLookback, type StoredAnomalyConfig } from '../../domain/anomaly-config.ts'
import { SEVERITIES } from '../../domain/records.ts'
import { type Route, route } from '../../http/route.ts'
import { loadAnomalyConfig } from '../../pipeline/load-anomaly-config.ts'
import type { Clock } from '../../ports/clock.ts'
import { type SearchStore, VersionConflict } from '../../ports/search-store.ts'

const ANOMALY_CHANGE = z.strictObject({
  minimumScore: z.number().min(0).max(1).optional(),
  lookbackWindow: z
    .string()
    .refine(text => parseLookback(text) !== undefined, `expected ${LOOKBACK_RULE}`)
    .optional(),
})
type AnomalyChange = z.output<typeof ANOMALY_CHANGE>

/** No platform is known to this version, so none is configured and none is routed to. */
const NO_PLATFORMS = { platforms: {}, routing: Object.fromEntries(SEVERITIES.toReversed().map(severity => [severity, []])) }
const NO_MODEL = { provider: 'none', model: '' }

export interface ConfigDeps {
  readonly store: SearchStore
  readonly clock: Clock
}

export function configRoutes({ store, clock }: ConfigDeps): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/config',
      handle: async ({ tenant = DEFAULT_TENANT }) => ({
        body: { ...NO_PLATFORMS, anomaly: await loadAnomalyConfig(store, tenant), llm: NO_MODEL },
      }),
    }),
    route({
      method: 'PATCH',
      path: '/api/v1/config/anomaly',
      body: ANOMALY_CHANGE,
      handle: async ({ tenant = DEFAULT_TENANT, body }) => ({
        body: { status: 'ok', anomaly: await changeAnomalyConfig({ store, clock }, tenant, body) },
      }),
    }),
  ]
}

/** Two callers that change different fields at once both have their way. */
async function changeAnomalyConfig({ store, clock }: ConfigDeps, tenant: string, change: AnomalyChange): Promise<AnomalyConfig> {
  if (Object.keys(change).length === 0) return loadAnomalyConfig(store, tenant)
  const id = anomalyConfigId(tenant)
  const stored = await store.get<StoredAnomalyConfig>(CONFIG_INDEX, id)
  const before = stored?.source.value ?? (await loadAnomalyConfig(store, tenant))
  const value: AnomalyConfig = {
    minimumScore: change.minimumScore ?? before.minimumScore,
    lookbackWindow: change.lookbackWindow ?? before.lookbackWindow,
  }
  const document: StoredAnomalyConfig = {
    section: 'ticketing.anomaly',
    tenantId: tenant,
    value,
    updatedAt: new Date(clock.nowMs()).toISOString(),
  }
  try {
    await store.put(CONFIG_INDEX, id, document, stored ?? { only: 'new' })
    return value
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error
    return changeAnomalyConfig({ store, clock }, tenant, change)
  }
}
