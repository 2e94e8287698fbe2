/** The form of each canonical field of a flat record: other writers may put anything on `enriched-logs` (Spec: Flat enriched record). */
import { isTenantId } from '../tenants/tenant.ts'
import type { FlatRecord } from './flat-record-fields.ts'
import { LEVELS } from './level.ts'

type Form = (value: unknown) => boolean

const like =
  (pattern: RegExp): Form =>
  value =>
    typeof value === 'string' && pattern.test(value)
const isText: Form = value => typeof value === 'string'
const isNumber: Form = value => Number.isFinite(value)

/** A search store refuses a whole bulk for an id that is longer than 512 bytes. */
export const isDocumentId = like(/^[\w.:-]{1,128}$/)
export const isTimestamp = like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,9}Z$/)
export const isLevel: Form = value => (LEVELS as readonly unknown[]).includes(value)

const FORMS: Readonly<Record<keyof FlatRecord, Form>> = {
  ...{ '@timestamp': isTimestamp, log_id: isText, level: isLevel, message: isText, service: isText, tenant_id: isTenantId },
  ...{ trace_id: isText, span_id: isText, host: isText, environment: isText, region: isText, batch_id: isText, severity_number: isNumber },
  document_id: isDocumentId,
  index_day: like(/^\d{4}\.\d\d\.\d\d$/),
  time_unix_nano: like(/^\d{1,20}$/),
  nanos: value => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 1_000_000,
  ...{ pattern_id: isText, pattern: isText },
  ...{ ml_error_rate_1h: isNumber, ml_p99_latency_1h: isNumber, ml_request_rate_1h: isNumber, ml_anomaly_history_count: isNumber },
  enriched: value => typeof value === 'boolean',
}
const OPTIONAL: ReadonlySet<string> = new Set(['trace_id', 'span_id', 'host', 'environment', 'region', 'batch_id', 'severity_number'])
const ENTRIES = Object.entries(FORMS)

/** Whether a canonical field may have the value. */
export const hasForm = (name: keyof FlatRecord, value: unknown): boolean => FORMS[name](value)

/** Whether all fields are there, and each is what every reader relies on. */
export function isFlatRecord(fields: Readonly<Record<string, unknown>>): boolean {
  return ENTRIES.every(([name, form]) => (fields[name] === undefined ? OPTIONAL.has(name) : form(fields[name])))
}
