/** How anomalies of a tenant are grouped: read anew often, and the last known one while it cannot be read. */
import { CONFIG_INDEX } from '../../../contract/indices.ts'
import { DEFAULT_TENANT } from '../../../contract/tenant-id.ts'
import {
  type AnomalyConfig,
  anomalyConfigId,
  DEFAULT_ANOMALY_CONFIG,
  effectiveAnomalyConfig,
  parseLookback,
  type StoredAnomalyConfig,
} from '../../../domain/incidents/anomaly-config.ts'
import type { GroupingConfig } from '../../../domain/incidents/grouping.ts'
import { isRecent } from '../../../limits/is-recent.ts'
import { onceEvery } from '../../../limits/once-every.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { DeclaredAnomaly } from '../../../ports/declared-ticketing.ts'
import { type SearchStore, SearchStoreRefusal, SearchStoreUnavailable } from '../../../ports/search-store.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { IndexOutages } from '../index-outages.ts'

export interface GroupingConfigs {
  of(tenants: ReadonlySet<string>): Promise<ReadonlyMap<string, GroupingConfig>>
}

export interface GroupingConfigsDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
  /** Tells a configuration index that is broken from a store that is away. Default: it never is broken. */
  readonly outages?: Pick<IndexOutages, 'red'>
  /** The declared layer, which wins over the configuration of every tenant. Default: none. */
  readonly declaredAnomaly?: () => DeclaredAnomaly
}

/** How long a configuration is taken as it was read: short, so that a change takes effect at once. */
const REMEMBERED_MS = 100
const MAX_REMEMBERED = 10_000
const WARN_EVERY_MS = 60_000

export function createGroupingConfigs({ store, clock, log, outages, declaredAnomaly }: GroupingConfigsDeps): GroupingConfigs {
  const known = new Map<string, { readonly atMs: number; readonly config: GroupingConfig }>()
  const mayWarn = onceEvery(WARN_EVERY_MS, () => clock.nowMs())

  const load = async (tenants: readonly string[]) => {
    for (const [tenant, { minimumScore, lookbackWindow }] of await loadConfigs(store, tenants, declaredAnomaly?.())) {
      const config = { minimumScore, lookbackMs: parseLookback(lookbackWindow)! }
      if (known.size >= MAX_REMEMBERED && !known.has(tenant)) known.delete(known.keys().next().value!)
      known.set(tenant, { atMs: clock.nowMs(), config })
    }
  }
  /** A tenant without a known configuration gets the defaults only while no wait would help: its own might open fewer incidents. */
  const goOnWithout = async (error: unknown, tenants: readonly string[]) => {
    if (!(error instanceof SearchStoreUnavailable || error instanceof SearchStoreRefusal)) throw error
    const isBroken = async () => error instanceof SearchStoreRefusal || (await outages?.red([CONFIG_INDEX]))?.length === 1
    if (tenants.some(tenant => !known.has(tenant)) && !(await isBroken())) throw error
    if (!mayWarn()) return
    log.warn(
      { index: CONFIG_INDEX, error: error.message, tenants: tenants.length },
      'the configuration of tenants cannot be read: the last known one holds, else the defaults',
    )
  }
  const configOf = (tenant: string): GroupingConfig => {
    const { minimumScore, lookbackMs } = known.get(tenant)?.config ?? DEFAULTS
    const declared = declaredAnomaly?.() ?? {}
    return {
      minimumScore: declared.minimumScore ?? minimumScore,
      lookbackMs: declared.lookbackWindow === undefined ? lookbackMs : parseLookback(declared.lookbackWindow)!,
    }
  }

  return {
    async of(tenants) {
      const nowMs = clock.nowMs()
      const old = [...tenants].filter(tenant => !isRecent(known.get(tenant)?.atMs ?? Number.NEGATIVE_INFINITY, REMEMBERED_MS, nowMs))
      if (old.length > 0) await load(old).catch(error => goOnWithout(error, old))
      return new Map([...tenants].map(tenant => [tenant, configOf(tenant)]))
    },
  }
}

const DEFAULTS: GroupingConfig = {
  minimumScore: DEFAULT_ANOMALY_CONFIG.minimumScore,
  lookbackMs: parseLookback(DEFAULT_ANOMALY_CONFIG.lookbackWindow)!,
}

/** By tenant, in one request: for each field the declared value, else the tenant's, else the default tenant's, else the specification's default (Decisions 6). */
async function loadConfigs(
  store: SearchStore,
  tenants: readonly string[],
  declared: DeclaredAnomaly | undefined,
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
