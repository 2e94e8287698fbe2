/** The runtime configuration, per tenant (Spec: Ticketing runtime configuration; Decisions 6). */
import { z } from 'zod'
import { CONFIG_INDEX } from '../../contract/indices.ts'
import { DEFAULT_TENANT } from '../../contract/tenant-id.ts'
import {
  type AnomalyConfig,
  anomalyConfigId,
  LOOKBACK_RULE,
  parseLookback,
  type StoredAnomalyConfig,
} from '../../domain/incidents/anomaly-config.ts'
import { HttpError } from '../../http/http-error.ts'
import { type Route, route } from '../../http/route.ts'
import { loadAnomalyConfig } from '../../pipeline/load-anomaly-config.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DeclaredAnomaly, DeclaredTicketingSource } from '../../ports/declared-ticketing.ts'
import { type SearchStore, VersionConflict } from '../../ports/search-store.ts'
import { viewConfig } from './config-view.ts'

const ANOMALY_CHANGE = z.strictObject({
  minimumScore: z.number().min(0).max(1).optional(),
  lookbackWindow: z
    .string()
    .refine(text => parseLookback(text) !== undefined, `expected ${LOOKBACK_RULE}`)
    .optional(),
})
type AnomalyChange = z.output<typeof ANOMALY_CHANGE>

export interface ConfigDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly declared: Pick<DeclaredTicketingSource, 'current' | 'problems'>
}

export function configRoutes(deps: ConfigDeps): readonly Route[] {
  const { store, declared } = deps
  const loadEffective = (tenant: string) => loadAnomalyConfig(store, tenant, declared.current()?.anomaly)
  return [
    route({
      method: 'GET',
      path: '/api/v1/config',
      handle: async ({ tenant = DEFAULT_TENANT }) => ({ body: viewConfig(declared, await loadEffective(tenant)) }),
    }),
    route({
      method: 'PATCH',
      path: '/api/v1/config/anomaly',
      body: ANOMALY_CHANGE,
      async handle({ tenant = DEFAULT_TENANT, body }) {
        refuseDeclared(body, declared.current()?.anomaly)
        await changeAnomalyConfig(deps, tenant, body)
        return { body: { status: 'ok', anomaly: await loadEffective(tenant) } }
      },
    }),
  ]
}

/** A declared field would win over the change, so nothing is changed. Throws `HttpError` 409. */
function refuseDeclared(change: AnomalyChange, declared: DeclaredAnomaly = {}): void {
  const owned = (Object.keys(change) as (keyof AnomalyChange)[]).filter(field => declared[field] !== undefined)
  if (owned.length > 0)
    throw new HttpError(
      409,
      owned.map(field => `${field}: declared as ${declared[field]}: change it in spec.ticketing.anomaly of the LogPipeline`).join('; '),
    )
}

/** Two callers that change different fields at once both have their way. */
async function changeAnomalyConfig(
  { store, clock }: Pick<ConfigDeps, 'store' | 'clock'>,
  tenant: string,
  change: AnomalyChange,
): Promise<void> {
  if (Object.keys(change).length === 0) return
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
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error
    return changeAnomalyConfig({ store, clock }, tenant, change)
  }
}
