/** An incident from any document that is stored: earlier versions lacked fields, and other programs write into the index as well (Decisions 6). */
import { SEVERITIES } from '../../contract/platforms.ts'
import { TENANT_ID_PATTERN } from '../../contract/tenant-id.ts'
import { isJsonObject } from '../../json/is-json-object.ts'
import { INCIDENT_STATUSES } from './incident-status.ts'
import type { StoredIncident } from './stored-incident.ts'

/** The place of a document. */
export interface IncidentPlace {
  readonly id: string
  /** The tenant whose index it lies in. */
  readonly tenant: string
}

/** Gives a value as it may be used; undefined for one that may not. */
type Read = (value: unknown) => unknown

const text: Read = value => (typeof value === 'string' ? value : undefined)
const name: Read = value => (value === '' ? undefined : text(value))
const number: Read = value => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)
const flag: Read = value => (typeof value === 'boolean' ? value : undefined)
const oneOf =
  (values: readonly unknown[]): Read =>
  value =>
    values.includes(value) ? value : undefined
const or =
  (read: Read, otherwise: unknown): Read =>
  value =>
    read(value) ?? otherwise

/** ISO-8601. A search store takes numbers for dates as well. */
const time: Read = value => {
  const date = new Date(typeof value === 'string' || typeof value === 'number' ? value : Number.NaN)
  if (Number.isNaN(date.getTime())) return undefined
  return typeof value === 'string' ? value : date.toISOString()
}

/** The entries that may be used. The list itself where all may: a page of incidents holds tens of thousands of them. */
const list =
  (read: Read): Read =>
  value => {
    if (!Array.isArray(value)) return undefined
    const found = value.map(read)
    return found.every((each, at) => each !== undefined && each === value[at]) ? value : found.filter(each => each !== undefined)
  }
const names = list(name)

/** Keeps fields that `reads` does not name, and the object itself where all is well; undefined where one of `needed` cannot be used. */
const fields = (reads: Readonly<Record<string, Read>>, needed: readonly string[] = []): Read => {
  const named = Object.entries(reads)
  return value => {
    if (!isJsonObject(value)) return undefined
    let found = value
    for (const [key, read] of named) {
      const usable = read(value[key])
      if (usable === value[key]) continue
      const { [key]: _unusable, ...others } = found
      found = usable === undefined ? others : { ...found, [key]: usable }
    }
    return needed.every(key => found[key] !== undefined) ? found : undefined
  }
}

const NO_NAMES: readonly string[] = []
const SAMPLES = { logIds: or(names, NO_NAMES), traceIds: or(names, NO_NAMES) }
const severity = oneOf(SEVERITIES)
const EVIDENCE = fields({ patternId: or(text, ''), pattern: or(text, ''), count: or(number, 0), score: or(number, 0), ...SAMPLES })
const REASON = fields({ kind: text, text, patternId: text, count: number, expected: number, ...SAMPLES }, ['kind', 'text'])
const CANDIDATE = fields({ service: name, score: or(number, 0), reasons: or(list(REASON), []) }, ['service'])
const MODEL = fields({
  provider: or(text, ''),
  name: or(text, ''),
  promptVersion: or(text, ''),
  inputTokens: or(number, 0),
  outputTokens: or(number, 0),
  latencyMs: or(number, 0),
})
const ROOT_CAUSE = fields({
  mode: or(oneOf(['rules', 'llm']), 'rules'),
  fallback: or(flag, false),
  summary: or(text, ''),
  candidates: or(list(CANDIDATE), []),
  model: MODEL,
})
const AUDIT_ENTRY = fields({ incident_id: name, action: name, timestamp: time, details: or(text, '') }, [
  'incident_id',
  'action',
  'timestamp',
])
const TOLD = { severity, services: names }
const OWED = fields(
  { seq: number, event: name, at: time, targets: names, except: name, severity, change: fields({}), news: names, quiet: text },
  ['seq', 'event', 'at'],
)
const TICKETING = fields({
  takenAt: time,
  claimedUntil: time,
  claimedBy: name,
  attentionAt: time,
  dispatchedAt: time,
  quietBy: name,
  untold: text,
  seq: number,
  owed: list(OWED),
  told: fields(TOLD, Object.keys(TOLD)),
  grewAt: time,
  analysed: fields({ ...TOLD, at: time, windowMs: number, hasFailed: flag, failures: number }, [...Object.keys(TOLD), 'at', 'windowMs']),
  explainedAt: time,
})
const INCIDENT = fields({
  tenantId: value => (typeof value === 'string' && TENANT_ID_PATTERN.test(value) ? value : undefined),
  title: name,
  severity: or(severity, 'medium'),
  status: or(oneOf(INCIDENT_STATUSES), 'open'),
  service: or(name, 'unknown_service'),
  anomalyScore: or(number, 0),
  anomalyCount: or(number, 0),
  affectedServices: names,
  furtherServices: number,
  traceId: text,
  createdAt: time,
  updatedAt: time,
  firstSeen: time,
  lastSeen: time,
  platforms: or(names, NO_NAMES),
  evidence: or(list(EVIDENCE), []),
  acknowledgedAt: time,
  resolvedAt: time,
  escalatedAt: time,
  escalatedTo: names,
  reopenedAt: time,
  recurring: flag,
  rootCause: ROOT_CAUSE,
  lastChange: AUDIT_ENTRY,
  ticketing: TICKETING,
})

/** An incident with all that its readers rely on: fields that are missing, or of another kind, get defaults or are left out; unknown ones stay. */
export function completeIncident(document: unknown, { id, tenant }: IncidentPlace): StoredIncident {
  const found = (INCIDENT(document) ?? INCIDENT({})) as Pick<StoredIncident, 'service' | 'platforms' | 'evidence'> & Partial<StoredIncident>
  const { createdAt = found.updatedAt ?? new Date(0).toISOString() } = found
  const { firstSeen = createdAt } = found
  const { id: _own, ...fields } = found
  return {
    id,
    ...fields,
    title: found.title ?? `${found.service}: anomalous log records`,
    tenantId: found.tenantId ?? tenant,
    createdAt,
    updatedAt: found.updatedAt ?? createdAt,
    firstSeen,
    lastSeen: found.lastSeen ?? firstSeen,
    affectedServices: found.affectedServices ?? [found.service],
  } as StoredIncident
}
