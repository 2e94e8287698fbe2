/** The features of a service in the feature store (Spec: Feature pipeline). */
export interface MlFeatures {
  readonly ml_error_rate_1h: number
  /** Milliseconds. */
  readonly ml_p99_latency_1h: number
  /** Records per second. */
  readonly ml_request_rate_1h: number
  readonly ml_anomaly_history_count: number
}

export interface Enrichment extends MlFeatures {
  readonly enriched: boolean
}

const NO_FEATURES: MlFeatures = { ml_error_rate_1h: 0, ml_p99_latency_1h: 0, ml_request_rate_1h: 0, ml_anomaly_history_count: 0 }
const WITHOUT_FEATURES: Enrichment = { ...NO_FEATURES, enriched: true }
const UNREACHABLE: Enrichment = { ...NO_FEATURES, enriched: false }

/**
 * The four ML fields and `enriched` of a record (Spec: Pipeline rules 3): a service without features gets zeros and
 * `enriched: true`, a feature store that cannot be reached gives zeros and `enriched: false` (Decisions 9).
 */
export function enrich(features: MlFeatures | undefined | 'unreachable'): Enrichment {
  if (features === undefined) return WITHOUT_FEATURES
  if (features === 'unreachable') return UNREACHABLE
  return {
    ml_error_rate_1h: finite(features.ml_error_rate_1h),
    ml_p99_latency_1h: finite(features.ml_p99_latency_1h),
    ml_request_rate_1h: finite(features.ml_request_rate_1h),
    ml_anomaly_history_count: Math.trunc(finite(features.ml_anomaly_history_count)),
    enriched: true,
  }
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0
}
