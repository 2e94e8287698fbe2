/** Scores the records of `enriched-logs`; those that are anomalies become records of `anomaly-events`. */
import type { Anomaly } from '../../domain/anomalies/anomaly.ts'
import { buildAnomaly } from '../../domain/anomalies/anomaly.ts'
import { EMIT_THRESHOLD, scoreRecord } from '../../domain/anomalies/scoring.ts'
import type { KeptHabits } from '../../domain/anomalies/signals/habits.ts'
import { type SignalFinding, SPEAKS } from '../../domain/anomalies/signals/signal.ts'
import { RECORD_BYTES, SignalEngine } from '../../domain/anomalies/signals/signal-engine.ts'
import { ServiceWindows, type ZscoreConfig } from '../../domain/anomalies/zscore.ts'
import type { FlatRecord } from '../../domain/records/flat-record-fields.ts'
import { busKey } from '../../domain/tenants/tenant.ts'
import { RecentIds } from '../../limits/recent-ids.ts'
import type { BusRecord } from '../../ports/bus.ts'
import { encodeAnomalyEvent } from '../anomaly-event.ts'
import { findAnomalyFields } from '../anomaly-fields.ts'
import { asBuffer, DOCUMENT_ID_AT, DOCUMENT_ID_END, decodeCanonical, LAYOUT_HEADER, parseLayout } from '../flat-record-layout.ts'
import { FlatRow } from '../flat-row.ts'
import type { Outcome, StepInput } from '../outcome.ts'
import { findScoredFields, knownScoredFields, type ScoredFields } from '../scored-fields.ts'
import { signalFieldsOf } from '../signal-fields.ts'

/** Threshold and window of the Z-score engine; both may change while it runs. */
export type DetectorConfig = ZscoreConfig

/** Services with a window; the one longest silent leaves first. */
const MAX_SERVICES = 20_000
/** Document ids remembered, so that a record delivered twice counts once. */
const MAX_RECENT_IDS = 100_000

export interface Detection {
  readonly anomaly: Anomaly
  /** For `anomaly-events`, keyed `<tenant>/<service>`; its value is the anomaly's JSON with the flat record under `record`. */
  readonly event: BusRecord
}

/** A record of `enriched-logs`; the partition it came from, by default 0. */
export type DetectorInput = StepInput & { readonly partition?: number }

/** An anomaly in a record that came earlier: one of the last of a service that fell silent. */
export interface SilentDetection extends Detection {
  readonly input: StepInput
}

export interface Detector {
  /** Scores one record of `enriched-logs`; each document id is taken once. */
  process(input: DetectorInput): Outcome<Detection>
  /** Anomalies of services that the records since the last call show to have fallen silent. */
  takeSilent(): readonly SilentDetection[]
  /** Feeds a record into windows and seen ids without emitting: for the records before the committed offset, after a restart. */
  warm(input: DetectorInput): void
  /** Habits of the partitions in which a signal spoke since the last call; mostly none. */
  takeHabits(): readonly KeptHabits[]
  /** Takes in habits that were kept. */
  restoreHabits(kept: KeptHabits): void
  /** Takes effect at once; windows keep what they hold as far as it fits. */
  configure(config: Partial<DetectorConfig>): void
}

const SKIPPED = { kind: 'drop', reason: 'DEBUG and TRACE are skipped' } as const
const DUPLICATE = { kind: 'drop', reason: 'document id seen before' } as const
const NORMAL = { kind: 'drop', reason: 'no anomaly' } as const
const UNREADABLE = {
  kind: 'deadLetter',
  reason: 'flat record: not JSON, or a canonical field is missing or not what it has to be',
} as const

/** Rule scoring, the Z-score engine and the signals beside it over one stream of flat records (Spec: Anomaly scoring algorithm; Decisions 5). */
export function createDetector(config: DetectorConfig): Detector {
  const windows = new ServiceWindows(config, MAX_SERVICES)
  const signals = new SignalEngine(keepRecord)
  const seen = new RecentIds(MAX_RECENT_IDS)
  let threshold = config.anomalyThreshold
  let silent: SilentDetection[] = []

  /** Findings at the threshold and above; of the services that have fallen silent, anomalies are kept for `takeSilent`. */
  const signalled = (input: DetectorInput, fields: ScoredFields): readonly SignalFinding[] => {
    const observed = signals.observe(input, fields)
    if (observed === undefined) return NO_FINDINGS
    const speaks = ({ z }: SignalFinding) => z >= Math.max(threshold, SPEAKS)
    for (const { records, finding } of observed.silent)
      if (speaks(finding)) silent.push(...records.flatMap(each => buildSilent(each, finding)))
    return observed.findings.filter(speaks)
  }

  const isNew = (input: DetectorInput, { document_id }: ScoredFields): boolean =>
    input instanceof FlatRow
      ? seen.addBytes(input.bytes, input.start + DOCUMENT_ID_AT, input.start + DOCUMENT_ID_END)
      : seen.add(document_id!)

  /** The anomaly a record is, or why it is none. */
  const detect = (given: DetectorInput): Anomaly | typeof SKIPPED | typeof DUPLICATE | typeof NORMAL | typeof UNREADABLE => {
    const input = isOfOther(given) ? withBusKey(given) : given
    const fields = (input instanceof FlatRow ? fieldsOfRow(input) : undefined) ?? fieldsOfInput(input)
    if (fields === undefined) return UNREADABLE
    const score = scoreRecord(fields)
    if (score === undefined) return SKIPPED
    if (!isNew(input, fields)) return DUPLICATE
    const zscore = windows.observe(input.key, score)
    const findings = signalled(input, fields)
    if (score < EMIT_THRESHOLD && zscore === 0 && findings.length === 0) return NORMAL
    const record = (input instanceof FlatRow ? findAnomalyFields(input) : undefined) ?? canonicalOf(input)
    return record === undefined ? UNREADABLE : buildAnomaly(record, { score, zscore, findings })
  }

  return {
    process(input) {
      const found = detect(input)
      if ('kind' in found) return found
      return { kind: 'emit', value: { anomaly: found, event: encodeAnomalyEvent(found, input) } }
    },
    takeSilent() {
      const taken = silent
      if (taken.length > 0) silent = []
      return taken
    },
    warm(input) {
      detect(input)
      silent = []
    },
    takeHabits: () => signals.habits.takeChanged(),
    restoreHabits: kept => signals.habits.merge(kept),
    configure(next) {
      windows.configure(next)
      threshold = next.anomalyThreshold ?? threshold
    },
  }
}

/** Whether another writer than this pipeline may have made the record. */
function isOfOther(input: DetectorInput): boolean {
  return !(input instanceof FlatRow) && input.headers[LAYOUT_HEADER] === undefined
}

/** Windows and signals go by the key, in which other writers may have anything. */
function withBusKey(input: DetectorInput): DetectorInput {
  const record = decodeCanonical(input.value, undefined)
  return record === undefined ? input : { ...input, key: busKey(record.tenant_id, record.service) }
}

const NO_FINDINGS: readonly SignalFinding[] = []

function fieldsOfRow(row: FlatRow): ScoredFields | undefined {
  const { bytes, start, layout, known } = row
  return known === undefined ? findScoredFields(bytes, start, start + layout.canonicalEnd) : knownScoredFields(bytes, start, known)
}

function fieldsOfInput({ value, headers }: StepInput): ScoredFields | undefined {
  const layout = parseLayout(headers[LAYOUT_HEADER], value)
  const found = layout && findScoredFields(asBuffer(value), 0, layout.canonicalEnd)
  if (found !== undefined) return found
  const record = decodeCanonical(value, layout)
  return record && { ...record, ...signalFieldsOf(record) }
}

function canonicalOf(input: DetectorInput): FlatRecord | undefined {
  const { value } = input
  return decodeCanonical(value, input instanceof FlatRow ? input.layout : parseLayout(input.headers[LAYOUT_HEADER], value))
}

/** A copy: the bus lends its bytes for the batch alone. */
function keepRecord({ key, value, headers }: StepInput): StepInput | undefined {
  return value.length > RECORD_BYTES ? undefined : { key, value: Uint8Array.from(value), headers }
}

/** The anomaly that a record is beside what it was when it came, since its service said nothing more. */
function buildSilent(input: StepInput, finding: SignalFinding): readonly SilentDetection[] {
  const record = canonicalOf(input)
  if (record === undefined) return []
  const anomaly = buildAnomaly(record, { score: scoreRecord(record) ?? 0, zscore: 0, findings: [finding] })
  return [{ anomaly, input, event: encodeAnomalyEvent(anomaly, input) }]
}
