/** Scores the records of `enriched-logs`; those that are anomalies become records of `anomaly-events`. */
import type { Anomaly } from '../../domain/anomalies/anomaly.ts'
import { buildAnomaly } from '../../domain/anomalies/anomaly.ts'
import { EMIT_THRESHOLD, scoreRecord } from '../../domain/anomalies/scoring.ts'
import { ServiceWindows, type ZscoreConfig } from '../../domain/anomalies/zscore.ts'
import { RecentIds } from '../../limits/recent-ids.ts'
import type { BusRecord } from '../../ports/bus.ts'
import { encodeAnomalyEvent } from '../anomaly-event.ts'
import { decodeCanonical, LAYOUT_HEADER, parseLayout } from '../flat-record-layout.ts'
import type { Outcome, StepInput } from '../outcome.ts'
import { findScoredFields } from '../scored-fields.ts'

/** Threshold and window of the Z-score engine; both may change while it runs. */
export type DetectorConfig = ZscoreConfig

/** Bounds of a detector's memory. */
export interface DetectorLimits {
  /** Services with a window; the one longest silent leaves first. */
  readonly maxServices: number
  /** Document ids remembered, so that a record delivered twice counts once. */
  readonly maxRecentIds: number
}

const MAX_SERVICES = 20_000
const MAX_RECENT_IDS = 100_000
const DEFAULT_LIMITS: DetectorLimits = { maxServices: MAX_SERVICES, maxRecentIds: MAX_RECENT_IDS }

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

const SKIPPED = { kind: 'drop', reason: 'DEBUG and TRACE are skipped' } as const
const DUPLICATE = { kind: 'drop', reason: 'document id seen before' } as const
const NORMAL = { kind: 'drop', reason: 'no anomaly' } as const
const UNREADABLE = { kind: 'deadLetter', reason: 'flat record: not JSON, or a canonical field is missing' } as const

/** Rule scoring and the Z-score engine over one stream of flat records (Spec: Anomaly scoring algorithm; Decisions 5). */
export function createDetector(config: DetectorConfig, limits: Partial<DetectorLimits> = {}): Detector {
  const { maxServices, maxRecentIds } = { ...DEFAULT_LIMITS, ...limits }
  const windows = new ServiceWindows(config, maxServices)
  const seen = new RecentIds(maxRecentIds)

  /** The anomaly a record is, or why it is none. */
  const detect = ({ key, value, headers }: StepInput): Anomaly | typeof SKIPPED | typeof DUPLICATE | typeof NORMAL | typeof UNREADABLE => {
    const layout = parseLayout(headers[LAYOUT_HEADER], value)
    const fields = (layout && findScoredFields(value, layout.canonicalEnd)) ?? decodeCanonical(value, layout)
    if (fields === undefined) return UNREADABLE
    const score = scoreRecord(fields)
    if (score === undefined) return SKIPPED
    if (!seen.add(fields.document_id)) return DUPLICATE
    const zscore = windows.observe(key, score)
    if (score < EMIT_THRESHOLD && zscore === 0) return NORMAL
    const record = decodeCanonical(value, layout)
    return record === undefined ? UNREADABLE : buildAnomaly(record, { score, zscore })
  }

  return {
    process(input) {
      const found = detect(input)
      if ('kind' in found) return found
      return { kind: 'emit', value: { anomaly: found, event: encodeAnomalyEvent(found, input) } }
    },
    warm: input => void detect(input),
    configure: next => windows.configure(next),
  }
}
