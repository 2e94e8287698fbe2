/** An anomaly: its fields, its id, and how it is made of a record and its scores. */
import { createUuid5, URL_NAMESPACE } from '../../hash/uuid5.ts'
import type { FlatRecord } from '../records/flat-record-fields.ts'
import type { Level } from '../records/level.ts'
import { EMIT_THRESHOLD, explainScore } from './scoring.ts'
import type { SignalFinding } from './signals/signal.ts'

export type DetectorName = 'rule' | 'zscore'

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
  readonly detectors: readonly DetectorName[]
  readonly reasons: readonly string[]
  /** The strongest finding of the signals beside the Z-score of rule scores, in words; absent without any. */
  readonly signal?: string
  readonly incident_id?: string
}

/** A record's scores by the engines. */
export interface Scores {
  /** Rule score, 0 to 1. */
  readonly score: number
  /** At or above the threshold; 0 below it. */
  readonly zscore: number
  /** Those at or above the threshold. Default: none. */
  readonly findings?: readonly SignalFinding[]
}

const uuid = createUuid5(createUuid5(URL_NAMESPACE)('https://logpipeline.dev/anomaly'))

/** An anomaly's id derives from its document's id, so that replays and parallel paths overwrite it (Decisions 5). */
export function anomalyId(documentId: string): string {
  return uuid(documentId)
}

/** Longer messages are cut in the anomaly; the log document holds them whole. */
export const MAX_ANOMALY_MESSAGE = 8_192

/** One anomaly, whichever of the two engines, and of their signals, found it. */
export function buildAnomaly(record: FlatRecord, { score, zscore, findings = [] }: Scores): Anomaly {
  const byRule = score >= EMIT_THRESHOLD
  const byZscore = zscore > 0 || findings.length > 0
  const sorted = findings.toSorted((a, b) => b.z - a.z)
  return {
    id: anomalyId(record.document_id),
    log_id: record.log_id,
    document_id: record.document_id,
    timestamp: record['@timestamp'],
    tenant_id: record.tenant_id,
    service: record.service,
    level: record.level,
    message: record.message.length > MAX_ANOMALY_MESSAGE ? record.message.slice(0, MAX_ANOMALY_MESSAGE).toWellFormed() : record.message,
    pattern_id: record.pattern_id,
    pattern: record.pattern,
    ...(record.trace_id !== undefined && { trace_id: record.trace_id }),
    ...(record.span_id !== undefined && { span_id: record.span_id }),
    score,
    anomaly_score: Math.max(zscore, sorted[0]?.z ?? 0),
    detectors: [...(byRule ? (['rule'] as const) : []), ...(byZscore ? (['zscore'] as const) : [])],
    reasons: [
      ...explainScore(record),
      ...(zscore > 0 ? [`z-score ${zscore}`] : []),
      ...sorted.map(({ signal, z, text }) => `${signal} ${z}: ${text}`),
    ],
    ...(sorted[0] !== undefined && { signal: `${sorted[0].signal}: ${sorted[0].text}` }),
  }
}
