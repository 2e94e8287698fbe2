import type { BulkOperation } from '../../ports/search-store.ts'
import type { Outcome, StepInput } from '../outcome.ts'

export interface LogDocument {
  readonly tenant: string
  /** Bulk `create` into the daily index. */
  readonly operation: BulkOperation
}

export interface AnomalyDocuments {
  readonly tenant: string
  /** Bulk `update` of the log document with the anomaly flags; the full document as upsert. */
  readonly log: BulkOperation
  /** Bulk `update` of the anomaly document with itself as upsert: what was added to it since stays. */
  readonly anomaly: BulkOperation
}

export interface DocumentBuilder {
  /** The log document of one record of `enriched-logs`. */
  log(input: StepInput): Outcome<LogDocument>
  /** The documents of one record of `anomaly-events`. */
  anomaly(input: StepInput): Outcome<AnomalyDocuments>
}
