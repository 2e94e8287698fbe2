/** The flat record as it travels on `enriched-logs` (Spec: Resources and their fields; Decisions 4). */
import type { MlFeatures } from '../features/enrichment.ts'
import type { Level } from './level.ts'

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
