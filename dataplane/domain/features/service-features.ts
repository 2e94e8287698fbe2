/** The ML features of a service, computed from one hour of its logs and anomalies (Spec: Feature pipeline; Decisions 9). */
import type { MlFeatures } from './enrichment.ts'
import { HOUR_MS } from './feature-hour.ts'

/** Attributes that hold how long something took, in the order in which they count, with what makes milliseconds of them (Decisions 9). */
export const LATENCY_FIELDS = [
  { field: 'duration_ms', toMs: 1 },
  { field: 'latency_ms', toMs: 1 },
  { field: 'response_time_ms', toMs: 1 },
  { field: 'http.server.request.duration', toMs: 1_000 },
] as const

/** Latencies of the records of a service that share one field. */
export interface LatencyGroup {
  readonly count: number
  /** Milliseconds at `LATENCY_PERCENTS`, in that order. */
  readonly atPercents: readonly number[]
}

/** Where the distribution of a group is looked at: finer towards the end that the 99th percentile is taken from. */
export const LATENCY_PERCENTS = [...Array.from({ length: 19 }, (_, i) => (i + 1) * 5), 96, 97, 98, 99, 99.5, 99.9, 100] as const

/** An hour of a service, as counted in the search store. */
export interface ServiceHour {
  /** Log records of the hour. */
  readonly records: number
  /** Records with level ERROR or FATAL. */
  readonly errors: number
  /** Groups of records with a latency; no record is in two. */
  readonly latencies: readonly LatencyGroup[]
  /** Anomalies of 24 hours. */
  readonly anomalies: number
}

/** The four features of a service (Spec: Feature pipeline; Decisions 9). */
export function computeFeatures({ records, errors, latencies, anomalies }: ServiceHour): MlFeatures {
  return {
    ml_error_rate_1h: records === 0 ? 0 : errors / records,
    ml_p99_latency_1h: p99(latencies),
    ml_request_rate_1h: records / (HOUR_MS / 1_000),
    ml_anomaly_history_count: anomalies,
  }
}

/**
 * The 99th percentile over all groups together, 0 without any: exact for one group; for several, each stands for as many equal values
 * as lie between two percents.
 */
function p99(groups: readonly LatencyGroup[]): number {
  const steps = groups.flatMap(({ count, atPercents }) =>
    atPercents.map((value, i) => ({ value, weight: (count * (LATENCY_PERCENTS[i]! - (LATENCY_PERCENTS[i - 1] ?? 0))) / 100 })),
  )
  steps.sort((a, b) => a.value - b.value)
  const wanted = steps.reduce((sum, { weight }) => sum + weight, 0) * 0.99 - ROUNDING
  let below = 0
  for (const { value, weight } of steps) {
    below += weight
    if (below >= wanted) return value
  }
  return 0
}

/** Weights are sums of fractions. */
const ROUNDING = 1e-6
