/** The flat record: the canonical fields of a log record and all its attributes. */
import type { LogRecord } from '../../otlp/payload.ts'
import type { MlFeatures } from '../features/enrichment.ts'
import { type Enrichment, enrich } from '../features/enrichment.ts'
import { anyValueJson } from './any-value.ts'
import { canonicalFields } from './canonical-fields.ts'
import { buildDocumentId, stableAttributes } from './document-id.ts'
import { exceptionMessage } from './exception-message.ts'
import type { FlatRecord } from './flat-record-fields.ts'
import { type FlatAttributes, flattenAttributes } from './flatten.ts'
import { normaliseLevel, normaliseSeverityNumber } from './level.ts'
import { buildLogId, normaliseId } from './log-id.ts'
import { buildPattern } from './pattern.ts'
import type { SharedAttributes } from './shared-attributes.ts'
import { buildTimestamp, type DayRule, indexDay, parseUnixNano, type Timestamp } from './timestamp.ts'

/** One log record on its way to `enriched-logs`: the canonical part and all attributes under their original keys. */
export interface FlattenedRecord {
  readonly canonical: FlatRecord
  readonly attributes: FlatAttributes
}

export interface FlattenConfig {
  readonly defaultTenant: string
  readonly lookupFeatures: (tenant: string, service: string) => MlFeatures | undefined | 'unreachable'
}

/** Attributes of the record, its event name and original severity text among them (Decisions 3). */
function recordAttributes({ attributes, eventName, severityText }: LogRecord): FlatAttributes {
  return flattenAttributes(
    eventName ? [{ key: 'event.name', value: { stringValue: eventName } }] : undefined,
    attributes,
    severityText ? [{ key: 'severity_text', value: { stringValue: severityText } }] : undefined,
  )
}

/** The text of a body: a string as it is, any other as compact JSON text, none as the empty message (Decisions 3). */
export function messageOf(body: LogRecord['body']): string {
  if (body === undefined) return ''
  if (body.stringValue !== undefined) return body.stringValue
  const json = anyValueJson(body, 'plain')
  return json === 'null' ? '' : json
}

/** The times that a record states. */
export interface TimedRecord {
  readonly timeUnixNano?: string | number | undefined
  readonly observedTimeUnixNano?: string | number | undefined
}

/** Times of a record: its own, else the observed one, else that of its arrival. */
export interface RecordTimes {
  readonly timestamp: Timestamp
  /** Decimal digits; `''` when there is none. */
  readonly observedUnixNano: string
}

/** Undefined when `timeUnixNano` or `observedTimeUnixNano` is no time. */
export function recordTimes(record: TimedRecord, receivedAtMs: number): RecordTimes | undefined {
  const time = parseUnixNano(record.timeUnixNano)
  const observed = parseUnixNano(record.observedTimeUnixNano)
  if (time === undefined || observed === undefined) return undefined
  return { timestamp: buildTimestamp(time || observed || `${receivedAtMs}000000`), observedUnixNano: observed }
}

/** One OTLP log record with what surrounds it. */
export interface LocatedRecord {
  readonly resource: SharedAttributes
  readonly scope: SharedAttributes
  /** Whether the record has only a part of these attributes. */
  readonly isPartial: boolean
  readonly record: LogRecord
  readonly times: RecordTimes
  readonly day: DayRule
}

/** Unwraps one log record into one flat record, and enriches it (Spec: Pipeline rules 2 and 3). */
export function flattenRecord(located: LocatedRecord, config: FlattenConfig): FlattenedRecord {
  const { resource, scope, isPartial, record, times, day } = located
  const ofRecord = recordAttributes(record)
  const fields = canonicalFields(resource.all, ofRecord, config.defaultTenant)
  const { timestamp } = times
  const traceId = normaliseId(record.traceId, 32)
  const spanId = normaliseId(record.spanId, 16)
  const logId = buildLogId(traceId, spanId, timestamp.timeUnixNano)
  const level = normaliseLevel(record.severityText, record.severityNumber)
  const body = messageOf(record.body)
  const message = body === '' ? exceptionMessage(ofRecord) : body
  const pattern = buildPattern(message)
  const documentId = buildDocumentId(fields.tenant_id, logId, {
    resourceDigest: resource.digest,
    scopeDigest: scope.digest,
    attributes: stableAttributes(ofRecord),
    severityText: record.severityText ?? '',
    severityNumber: record.severityNumber ?? 0,
    message: body,
  })
  const enrichment: Enrichment = enrich(config.lookupFeatures(fields.tenant_id, fields.service))
  const canonical: FlatRecord = {
    document_id: documentId,
    index_day: indexDay(timestamp.ms, times.observedUnixNano, day),
    '@timestamp': timestamp.iso,
    nanos: timestamp.nanos,
    time_unix_nano: timestamp.timeUnixNano,
    log_id: logId,
    ...fields,
    level,
    severity_number: normaliseSeverityNumber(record.severityNumber, level),
    ...(traceId !== '' && { trace_id: traceId }),
    ...(spanId !== '' && { span_id: spanId }),
    message,
    pattern_id: pattern.id,
    pattern: pattern.text,
    ...enrichment,
  }
  const [ofResource, ofScope] = isPartial ? [resource.part(), scope.part()] : [resource.all, scope.all]
  return { canonical, attributes: keptAttributes(fields, ofResource, ofScope, ofRecord) }
}

/**
 * All attributes, later levels winning, without `tenant_id` and `batch_id` where they say just what the field says. An attribute named like any other
 * canonical field is kept: it lost against the field and stays here (Decisions 4).
 */
export function keptAttributes(
  fields: { readonly tenant_id: string; readonly batch_id?: string },
  ...levels: readonly FlatAttributes[]
): FlatAttributes {
  const kept = new Map<string, string>()
  for (const level of levels) for (const [key, json] of level) kept.set(key, json)
  for (const name of ['tenant_id', 'batch_id'] as const) if (kept.get(name) === JSON.stringify(fields[name])) kept.delete(name)
  return kept
}
