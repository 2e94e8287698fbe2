/** The index templates of logs, anomalies, incidents and their like (Spec: Indexed log document). */
import { ALL_DISPATCHES, ALL_LOGS, API_KEYS_INDEX, CONFIG_INDEX, INDEX_PREFIX } from '../../contract/indices.ts'
import { LATENCY_FIELDS } from '../features/service-features.ts'

const KEYWORD = { type: 'keyword', ignore_above: 1_024 } as const
/** Kept in `_source`, not searchable. */
const STORED_ONLY = { type: 'keyword', index: false, doc_values: false } as const
const DATE = { type: 'date' } as const
const TEXT = { type: 'text' } as const
const FLOAT = { type: 'float' } as const
const INTEGER = { type: 'integer' } as const
const BOOLEAN = { type: 'boolean' } as const

type Properties = Readonly<Record<string, object>>

/** Fields of the indexed log document (Spec: Indexed log document; Decisions 4). */
const LOG_PROPERTIES: Properties = {
  timestamp: DATE,
  nanos: INTEGER,
  time_unix_nano: STORED_ONLY,
  log_id: KEYWORD,
  tenant_id: KEYWORD,
  service: KEYWORD,
  level: KEYWORD,
  severity_number: INTEGER,
  message: TEXT,
  trace_id: KEYWORD,
  span_id: KEYWORD,
  host: KEYWORD,
  environment: KEYWORD,
  region: KEYWORD,
  batch_id: KEYWORD,
  pattern_id: KEYWORD,
  pattern: STORED_ONLY,
  anomaly_score: FLOAT,
  rule_score: FLOAT,
  is_anomaly: BOOLEAN,
  ml_error_rate_1h: FLOAT,
  ml_p99_latency_1h: FLOAT,
  ml_request_rate_1h: FLOAT,
  ml_anomaly_history_count: INTEGER,
  enriched: BOOLEAN,
  attributes: { type: 'flat_object' },
  // Whichever value comes first, these stay numbers with a fraction: their percentiles are a feature.
  ...Object.fromEntries(LATENCY_FIELDS.map(({ field }) => [field, { type: 'double' }])),
}

/** Fields that daily indices of an earlier version lack. They are added to those indices: without a mapping, a first value of `1` would make integers of them. */
export const ADDED_LOG_PROPERTIES: Properties = { rule_score: FLOAT }

/** Decisions 5. */
const ANOMALY_PROPERTIES: Properties = {
  id: KEYWORD,
  log_id: KEYWORD,
  document_id: KEYWORD,
  timestamp: DATE,
  tenant_id: KEYWORD,
  service: KEYWORD,
  level: KEYWORD,
  message: TEXT,
  pattern_id: KEYWORD,
  pattern: STORED_ONLY,
  trace_id: KEYWORD,
  span_id: KEYWORD,
  score: FLOAT,
  anomaly_score: FLOAT,
  detectors: KEYWORD,
  reasons: KEYWORD,
  signal: KEYWORD,
  incident_id: KEYWORD,
  indexed_at: DATE,
}

/** Fields of incidents that the ticketing agent looks for; incidents of an earlier version lack them. */
export const TICKETING_PROPERTIES: Properties = {
  recurring: BOOLEAN,
  ticketing: { properties: { takenAt: DATE, attentionAt: DATE, dispatchedAt: DATE, quietBy: KEYWORD } },
}

/** Spec: Incident; Decisions 6. Evidence and the like are kept in `_source` alone. */
const INCIDENT_PROPERTIES: Properties = {
  id: KEYWORD,
  tenantId: KEYWORD,
  title: TEXT,
  severity: KEYWORD,
  status: KEYWORD,
  service: KEYWORD,
  anomalyScore: FLOAT,
  anomalyCount: INTEGER,
  affectedServices: KEYWORD,
  traceId: KEYWORD,
  createdAt: DATE,
  updatedAt: DATE,
  firstSeen: DATE,
  lastSeen: DATE,
  acknowledgedAt: DATE,
  resolvedAt: DATE,
  escalatedAt: DATE,
  reopenedAt: DATE,
  escalatedTo: KEYWORD,
  platforms: KEYWORD,
  ...TICKETING_PROPERTIES,
}

/** The outbox: the rows themselves are kept in `_source` alone. */
export const DISPATCH_PROPERTIES: Properties = {
  tenantId: KEYWORD,
  incidentId: KEYWORD,
  platform: KEYWORD,
  lane: KEYWORD,
  ticketKey: KEYWORD,
  severity: KEYWORD,
  externalId: KEYWORD,
  state: KEYWORD,
  dueAt: DATE,
  deadlineAt: DATE,
  pendingSince: DATE,
  limitedUntil: DATE,
  createdAt: DATE,
  updatedAt: DATE,
}

/** Spec: Audit entry. */
const AUDIT_PROPERTIES: Properties = { incident_id: KEYWORD, action: KEYWORD, timestamp: DATE, details: TEXT }

const CONFIG_PROPERTIES: Properties = { section: KEYWORD, tenantId: KEYWORD, updatedAt: DATE }

/** Spec: API key. The hash is the document's id. */
const API_KEY_PROPERTIES: Properties = { id: KEYWORD, tenantId: KEYWORD, name: KEYWORD, createdAt: DATE, lastUsedAt: DATE, revokedAt: DATE }

/** Custom attributes become fields by themselves: strings as keywords, and never as dates, which would refuse the next string. */
const LOG_MAPPINGS = {
  dynamic: true,
  date_detection: false,
  dynamic_templates: [{ strings: { match_mapping_type: 'string', mapping: KEYWORD } }],
  properties: LOG_PROPERTIES,
}

const MAX_FIELDS = 3_000

/** How new indices are laid out; what is undefined the search store decides. */
export interface IndexLayout {
  /** Primary shards of an index of logs; the others are small and have one. */
  readonly shards?: number | undefined
  readonly replicas?: number | undefined
}

function template(pattern: string, mappings: object, settings: object = {}) {
  return { index_patterns: [pattern], priority: 100, template: { settings, mappings } }
}

/** Fields that are not named here are kept and not searchable. */
function fixed(properties: Properties) {
  return { dynamic: false, properties }
}

/** Index templates that the bridge installs, by name (Decisions 8). */
export function indexTemplates({ shards, replicas }: IndexLayout): Readonly<Record<string, object>> {
  const copies = replicas === undefined ? {} : { 'index.number_of_replicas': replicas }
  const logs = {
    'index.mapping.total_fields.limit': MAX_FIELDS,
    ...(shards === undefined ? {} : { 'index.number_of_shards': shards }),
    ...copies,
  }
  return {
    'service-logs': template(ALL_LOGS, LOG_MAPPINGS, logs),
    'service-anomalies': template(`${INDEX_PREFIX}anomalies-*`, fixed(ANOMALY_PROPERTIES), copies),
    'service-incidents': template(`${INDEX_PREFIX}incidents-*`, fixed(INCIDENT_PROPERTIES), copies),
    'service-audit': template(`${INDEX_PREFIX}audit-*`, fixed(AUDIT_PROPERTIES), copies),
    'service-dispatches': template(ALL_DISPATCHES, fixed(DISPATCH_PROPERTIES), copies),
    'service-config': template(CONFIG_INDEX, fixed(CONFIG_PROPERTIES), copies),
    'service-api-keys': template(API_KEYS_INDEX, fixed(API_KEY_PROPERTIES), copies),
  }
}

/** As they are when nothing is said of the layout. */
export const INDEX_TEMPLATES = indexTemplates({})

/** Template that the ticketing agent installs for itself: it may start before the bridge, whose template has the higher priority. */
export const DISPATCHES_TEMPLATE_BODY = { ...template(ALL_DISPATCHES, fixed(DISPATCH_PROPERTIES)), priority: 50 }

/** Template that makers of keys install for themselves: keys may be made before the bridge starts. */
export const API_KEYS_TEMPLATE_BODY = { ...template(API_KEYS_INDEX, fixed(API_KEY_PROPERTIES)), priority: 50 }
