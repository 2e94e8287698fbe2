import { buildAnomaly } from '../../domain/anomaly.ts'
import { RecentIds } from '../../domain/recent-ids.ts'
import type { Anomaly, FlatRecord } from '../../domain/records.ts'
import { EMIT_THRESHOLD, scoreRecord } from '../../domain/scoring.ts'
import { ServiceWindows, type ZscoreConfig } from '../../domain/zscore.ts'
import type { BusRecord } from '../../ports/bus.ts'
import { encodeAnomalyEvent } from '../anomaly-event.ts'
import { decodeCanonical, LAYOUT_HEADER, parseLayout } from '../flat-record-layout.ts'
import type { Outcome, StepInput } from '../outcome.ts'

/** Threshold and window of the Z-score engine; both may change while it runs. */
export type DetectorConfig = ZscoreConfig

/** What a detector keeps, at most. */
export interface DetectorLimits {
  /** Services with a window; the one longest silent leaves first. */
  readonly maxServices: number
  /** Document ids remembered, so that a record delivered twice counts once. */
  readonly maxRecentIds: number
}

const DEFAULT_LIMITS: DetectorLimits = { maxServices: 20_000, maxRecentIds: 100_000 }

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
  const detect = (record: FlatRecord): Anomaly | typeof SKIPPED | typeof DUPLICATE | typeof NORMAL => {
    const score = scoreRecord(record)
    if (score === undefined) return SKIPPED
    if (!seen.add(record.document_id)) return DUPLICATE
    const zscore = windows.observe(`${record.tenant_id}/${record.service}`, score)
    return score >= EMIT_THRESHOLD || zscore > 0 ? buildAnomaly(record, { score, zscore }) : NORMAL
  }

  return {
    process(input) {
      const record = decodeCanonical(input.value, parseLayout(input.headers[LAYOUT_HEADER], input.value))
      if (record === undefined) return UNREADABLE
      const found = detect(record)
      if ('kind' in found) return found
      return { kind: 'emit', value: { anomaly: found, event: encodeAnomalyEvent(found, input) } }
    },
    warm(input) {
      const record = decodeCanonical(input.value, parseLayout(input.headers[LAYOUT_HEADER], input.value))
      if (record !== undefined) detect(record)
    },
    configure: next => windows.configure(next),
  }
}
