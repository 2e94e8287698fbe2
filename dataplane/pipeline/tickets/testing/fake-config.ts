import type { Severity } from '../../../contract/platforms.ts'
import { parseTargetId, type TargetId } from '../../../contract/target-id.ts'
import { DEFAULT_ANOMALY_CONFIG } from '../../../domain/incidents/anomaly-config.ts'
import type { FieldValue, Target } from '../../../domain/tickets/target.ts'
import type { TicketingConfig, TicketingConfigSource } from '../../../ports/ticketing-config.ts'

/** A configuration that tests change as they like; the same for all tenants that have none of their own. */
export interface FakeConfig extends TicketingConfigSource {
  current: TicketingConfig
  readonly tenants: Map<string, TicketingConfig>
}

export function createFakeConfig(config: TicketingConfig = buildConfig()): FakeConfig {
  const fake: FakeConfig = {
    current: config,
    tenants: new Map(),
    load: async tenant => fake.tenants.get(tenant) ?? fake.current,
  }
  return fake
}

/** All severities go to `ids`, unless `overrides` says otherwise. */
export function buildConfig(ids: readonly TargetId[] = ['slack'], overrides: Partial<TicketingConfig> = {}): TicketingConfig {
  return {
    targets: new Map(ids.map(id => [id, buildTarget(id)])),
    routing: { critical: ids, high: ids, medium: ids, low: ids },
    declaredRoutes: [],
    anomaly: DEFAULT_ANOMALY_CONFIG,
    escalateAfterMs: { critical: null, high: null, medium: null, low: null } satisfies Record<Severity, null>,
    llm: { provider: 'none', model: '' },
    ...overrides,
  }
}

export function buildTarget(id: TargetId, fields: Readonly<Record<string, FieldValue>> = {}, enabled = true): Target {
  return { id, platform: parseTargetId(id)!.platform, enabled, fields }
}
