import type { Anomaly } from '../../domain/records.ts'
import type { BusRecord } from '../../ports/bus.ts'
import type { Outcome, StepInput } from '../outcome.ts'

export interface DetectorConfig {
  /** Z-score at or above which a record is an anomaly. */
  readonly anomalyThreshold: number
  /** Rule scores in each service's sliding window. */
  readonly windowSize: number
}

export interface Detection {
  readonly anomaly: Anomaly
  /** For `anomaly-events`, keyed `<tenant>/<service>`; its value is the anomaly's JSON with the flat record under `record`. */
  readonly event: BusRecord
}

export interface Detector {
  /** Scores one record of `enriched-logs`; each document id is taken once. */
  process(input: StepInput): Outcome<Detection>
  /** Feeds a record into windows and seen ids without emitting: for the records before the committed offset, after a restart. */
  warm(input: StepInput): void
  /** Takes effect at once; windows keep what they hold as far as it fits. */
  configure(config: Partial<DetectorConfig>): void
}
