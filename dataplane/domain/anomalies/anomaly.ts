/** An anomaly: its fields, its id, and how it is made of a record and its scores. */
import { createUuid5, URL_NAMESPACE } from '../../hash/uuid5.ts'
import type { MlFeatures } from '../features/enrichment.ts'
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

type OwnFields = Pick<
  FlatRecord,
  'document_id' | '@timestamp' | 'log_id' | 'tenant_id' | 'service' | 'level' | 'message' | 'pattern_id' | 'pattern'
>

/** The fields of a record that its anomaly is made of. */
export interface AnomalousRecord extends OwnFields, MlFeatures {
  readonly trace_id?: string | undefined
  readonly span_id?: string | undefined
}

/** A record's scores by the engines. */
export interface Scores {
  /** Rule score, 0 to 1. */
  readonly score: number
  /** At or above the threshold; 0 below it. */
  readonly zscore: number
  /** Findings at or above the threshold. Default: none. */
  readonly findings?: readonly SignalFinding[]
}

const uuid = createUuid5(createUuid5(URL_NAMESPACE)('https://logpipeline.dev/anomaly'))

/** An anomaly's id derives from its document's id, so that replays and parallel paths overwrite it (Decisions 5). */
export function anomalyId(documentId: string): string {
  return uuid(documentId)
}

/** Longer messages are cut in the anomaly; the log document holds them whole. */
export const MAX_ANOMALY_MESSAGE = 8_192

const NO_FINDINGS: readonly SignalFinding[] = []

/** One anomaly, whichever of the two engines, and of their signals, found it. */
export function buildAnomaly(record: AnomalousRecord, { score, zscore, findings = NO_FINDINGS }: Scores): Anomaly {
  const byRule = score >= EMIT_THRESHOLD
  const byZscore = zscore > 0 || findings.length > 0
  const sorted = findings.length > 1 ? findings.toSorted((a, b) => b.z - a.z) : findings
  const [strongest] = sorted
  const reasons = explainScore(record)
  if (zscore > 0) reasons.push(`z-score ${zscore}`)
  for (const { signal, z, text } of sorted) reasons.push(`${signal} ${z}: ${text}`)
  // Member by member, in the order of the JSON text: to spread them costs more than all the rest.
  const anomaly: Writable<Anomaly> = {
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
  } as Writable<Anomaly>
  if (record.trace_id !== undefined) anomaly.trace_id = record.trace_id
  if (record.span_id !== undefined) anomaly.span_id = record.span_id
  anomaly.score = score
  anomaly.anomaly_score = Math.max(zscore, strongest?.z ?? 0)
  anomaly.detectors = DETECTORS[(byRule ? 1 : 0) + (byZscore ? 2 : 0)]!
  anomaly.reasons = reasons
  if (strongest !== undefined) anomaly.signal = `${strongest.signal}: ${strongest.text}`
  return anomaly
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/** By whether the rules found it, 1, and the Z-score or a signal, 2. */
const DETECTORS: readonly (readonly DetectorName[])[] = [[], ['rule'], ['zscore'], ['rule', 'zscore']]
