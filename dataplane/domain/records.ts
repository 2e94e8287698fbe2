/** Shapes that travel between the stages (specification: Resources and their fields; decisions sections 4 to 6). */

export const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'] as const
export type Level = (typeof LEVELS)[number]

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export interface MlFeatures {
  readonly ml_error_rate_1h: number
  /** Milliseconds. */
  readonly ml_p99_latency_1h: number
  /** Records per second. */
  readonly ml_request_rate_1h: number
  readonly ml_anomaly_history_count: number
}

/**
 * The canonical part of the flat record on `enriched-logs`. On the bus it is followed by the flattened attributes
 * (dots replaced by underscores) and ends with `attributes`, the original keys (decisions section 4).
 */
export interface FlatRecord extends MlFeatures {
  /** ISO-8601 UTC, three to nine fraction digits. */
  readonly '@timestamp': string
  readonly log_id: string
  readonly level: Level
  readonly message: string
  readonly service: string
  readonly tenant_id: string
  /** 32 lower-case hex digits; absent without a valid one. */
  readonly trace_id?: string
  /** 16 lower-case hex digits; absent without a valid one. */
  readonly span_id?: string
  readonly host?: string
  readonly environment?: string
  readonly region?: string
  readonly batch_id?: string
  readonly severity_number?: number
  /** Id of the document in the search store: UUIDv5 over tenant, log_id and content digest. */
  readonly document_id: string
  /** Decimal string. */
  readonly time_unix_nano: string
  /** Nanoseconds within the millisecond, 0 to 999,999. */
  readonly nanos: number
  /** UTC day of the daily index, `YYYY.MM.dd`. */
  readonly index_day: string
  /** 16 hex digits. */
  readonly pattern_id: string
  /** The message with its variable parts masked. */
  readonly pattern: string
  readonly enriched: boolean
}

export type Detector = 'rule' | 'zscore'

/** A scored anomaly, as stored in `service-anomalies-{tenant}` and as sent on `anomaly-events`. */
export interface Anomaly {
  /** Derived from the document id, so that replays and parallel paths overwrite it. */
  readonly id: string
  readonly log_id: string
  readonly document_id: string
  readonly timestamp: string
  readonly tenant_id: string
  readonly service: string
  readonly level: Level
  readonly message: string
  readonly pattern_id: string
  readonly pattern: string
  readonly trace_id?: string
  readonly span_id?: string
  /** Rule score, 0 to 1. */
  readonly score: number
  /** Z-score; 0 below the threshold. */
  readonly anomaly_score: number
  readonly detectors: readonly Detector[]
  readonly reasons: readonly string[]
  readonly incident_id?: string
}

export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

export const INCIDENT_STATUSES = ['open', 'acknowledged', 'escalated', 'resolved'] as const
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number]

export interface Evidence {
  readonly patternId: string
  readonly pattern: string
  readonly count: number
  /** Highest rule score seen with this pattern. */
  readonly score: number
  /** Samples, at most 5. */
  readonly logIds: readonly string[]
  readonly traceIds: readonly string[]
}

/** Specification: Incident; decisions section 6. Root cause and dispatches join with the ticketing work. */
export interface Incident {
  readonly id: string
  readonly tenantId: string
  readonly title: string
  readonly severity: Severity
  readonly status: IncidentStatus
  readonly service: string
  /** The group's highest rule score. */
  readonly anomalyScore: number
  readonly anomalyCount: number
  readonly affectedServices: readonly string[]
  readonly traceId?: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly firstSeen: string
  readonly lastSeen: string
  readonly platforms: readonly string[]
  readonly evidence: readonly Evidence[]
  readonly acknowledgedAt?: string
  readonly resolvedAt?: string
  readonly escalatedAt?: string
  readonly escalatedTo?: readonly string[]
  readonly reopenedAt?: string
}

export interface AuditEntry {
  readonly incident_id: string
  readonly action: 'created' | 'acknowledged' | 'escalated' | 'resolved' | 'reopened'
  readonly timestamp: string
  readonly details: string
}
