/** Names of the search store's indices (Spec: Indexed log document; Decisions 8). */
export const INDEX_PREFIX = 'service-'
export const LOGS_PREFIX = 'service-logs-'
export const ALL_LOGS = 'service-logs-*'
export const ALL_ANOMALIES = 'service-anomalies-*'
export const ALL_INCIDENTS = 'service-incidents-*'
export const CONFIG_INDEX = 'service-config'
/** Runs of `feature_compute`. */
export const FEATURE_RUNS_INDEX = 'service-feature-runs'

export const tenantLogsAlias = (tenant: string) => `service-logs-${tenant}`
export const anomaliesIndex = (tenant: string) => `service-anomalies-${tenant}`
export const incidentsIndex = (tenant: string) => `service-incidents-${tenant}`
export const ALL_AUDIT = 'service-audit-*'
export const auditIndex = (tenant: string) => `service-audit-${tenant}`
/** Outbox of the ticketing agent: one document for each incident, event and target. */
export const ALL_DISPATCHES = 'service-dispatches-*'
/** The template that the ticketing agent installs for it; the bridge's own, `service-dispatches`, goes before it. */
export const DISPATCHES_TEMPLATE = 'service-dispatches-agent'
export const dispatchesIndex = (tenant: string) => `service-dispatches-${tenant}`
/** The indices of one tenant that the lifecycle thread writes to. */
export const lifecycleIndices = (tenant: string) => [anomaliesIndex(tenant), incidentsIndex(tenant), auditIndex(tenant)] as const
/** One document for each API key, whose id is the SHA-256 of the key. */
export const API_KEYS_INDEX = 'service-api-keys'
/** The template that the key store installs for it; the bridge's own goes before it. */
export const API_KEYS_TEMPLATE = 'service-api-keys-own'
