/** The form of each field of an anomaly: other writers may put anything on `anomaly-events`. */
import { isDocumentId, isLevel, isTimestamp } from '../records/flat-record-form.ts'
import { isTenantId } from '../tenants/tenant.ts'
import type { Anomaly } from './anomaly.ts'

type Form = (value: unknown) => boolean

const isText: Form = value => typeof value === 'string'
const isNumber: Form = value => Number.isFinite(value)
const areTexts: Form = value => Array.isArray(value) && value.every(isText)

const FORMS: Readonly<Record<keyof Anomaly, Form>> = {
  ...{ id: isDocumentId, log_id: isText, document_id: isDocumentId, timestamp: isTimestamp, tenant_id: isTenantId },
  ...{ service: isText, level: isLevel, message: isText, pattern_id: isText, pattern: isText, trace_id: isText, span_id: isText },
  ...{ score: isNumber, anomaly_score: isNumber, detectors: areTexts, reasons: areTexts, signal: isText, incident_id: isText },
}
const OPTIONAL: ReadonlySet<string> = new Set(['trace_id', 'span_id', 'signal', 'incident_id'])
const ENTRIES = Object.entries(FORMS)

export function isAnomaly(fields: Readonly<Record<string, unknown>>): boolean {
  return ENTRIES.every(([name, form]) => (fields[name] === undefined ? OPTIONAL.has(name) : form(fields[name])))
}
