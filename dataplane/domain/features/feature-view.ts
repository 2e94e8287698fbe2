/** The one feature view, as a Feast client names it (Decisions 9). */

/** Name of the view and of its push source. */
export const FEATURE_VIEW = 'service_stats'

/** Columns that name whose features they are. */
export const JOIN_KEYS = ['tenant_id', 'service'] as const

export const FEATURE_NAMES = ['ml_error_rate_1h', 'ml_p99_latency_1h', 'ml_request_rate_1h', 'ml_anomaly_history_count'] as const
export type FeatureName = (typeof FEATURE_NAMES)[number]

/** Features that are whole numbers. */
export const INTEGER_FEATURES: ReadonlySet<FeatureName> = new Set(['ml_anomaly_history_count'])

export function isFeatureName(name: string): name is FeatureName {
  return (FEATURE_NAMES as readonly string[]).includes(name)
}
