/** Flat records of other writers than this pipeline, which have the fields that the specification lists (Spec: Flat enriched record; Pipeline rules 5). */
import { createHash } from 'node:crypto'
import { enrich } from '../features/enrichment.ts'
import { isTenantId } from '../tenants/tenant.ts'
import { buildDocumentId } from './document-id.ts'
import type { FlatRecord } from './flat-record-fields.ts'
import { hasForm, isFlatRecord } from './flat-record-form.ts'
import { normaliseLevel } from './level.ts'
import { buildPattern } from './pattern.ts'
import { buildTimestamp, formatDay } from './timestamp.ts'

type Fields = Readonly<Record<string, unknown>>

const REQUIRED_TEXTS = ['@timestamp', 'log_id', 'tenant_id', 'service', 'level', 'message'] as const
/** Those of a record that was not enriched. */
const FEATURES = enrich('unreachable')
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d{1,9}))?(?:Z|[+-]\d\d:\d\d)$/

/**
 * The record with what follows from its fields, always the same of the same record; undefined where one of them is missing or is none. Null stands
 * for a field that is missing.
 */
export function completeRecord(given: Fields): FlatRecord | undefined {
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
  if (!REQUIRED_TEXTS.every(name => typeof fields[name] === 'string')) return undefined
  const { '@timestamp': time, tenant_id, log_id, level: levelText, message } = fields as unknown as FlatRecord
  const timeParts = ISO_TIME.exec(time)
  const ms = Date.parse(time)
  if (!isTenantId(tenant_id) || timeParts === null || !(ms >= 0)) return undefined
  const { 1: fraction = '' } = timeParts
  const { timeUnixNano, iso, nanos } = buildTimestamp(String(BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0').slice(3))))
  const level = normaliseLevel(levelText, undefined)
  const pattern = buildPattern(message)
  const content = { resourceDigest: '', scopeDigest: digestOf(fields), attributes: '', severityText: level, severityNumber: 0, message }
  const derived = {
    document_id: buildDocumentId(tenant_id, log_id, content),
    ...{ time_unix_nano: timeUnixNano, nanos, index_day: formatDay(ms), pattern_id: pattern.id, pattern: pattern.text },
  }
  const isOwn = ([name, value]: [string, unknown]) => !Object.hasOwn(derived, name) || hasForm(name as keyof typeof derived, value)
  const own = Object.fromEntries(Object.entries(fields).filter(isOwn))
  const record = { ...derived, ...FEATURES, ...own, '@timestamp': iso, level }
  return isFlatRecord(record) ? (record as unknown as FlatRecord) : undefined
}

/** Digest of all fields but those of enrichment, the same for any order of them. */
function digestOf(fields: Fields): string {
  const own = Object.entries(fields).filter(([name]) => !Object.hasOwn(FEATURES, name))
  own.sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha1').update(JSON.stringify(own)).digest('hex')
}
