/** Field names that belong to the pipeline, on the bus and in the search store, and what an attribute key may become there. */
import { flattenKey } from '../records/flatten.ts'

/** Canonical fields of the flat record and of the indexed log document (Spec: Resources and their fields; Decisions 4). */
const CANONICAL_FIELDS: ReadonlySet<string> = new Set([
  '@timestamp',
  'timestamp',
  'time_unix_nano',
  'nanos',
  'index_day',
  'log_id',
  'document_id',
  'level',
  'severity_number',
  'message',
  'service',
  'tenant_id',
  'trace_id',
  'span_id',
  'host',
  'environment',
  'region',
  'batch_id',
  'pattern',
  'pattern_id',
  'anomaly_score',
  'rule_score',
  'is_anomaly',
  'ml_error_rate_1h',
  'ml_p99_latency_1h',
  'ml_request_rate_1h',
  'ml_anomaly_history_count',
  'enriched',
  'attributes',
])

/** Metadata fields that OpenSearch refuses inside a document. */
const METADATA_FIELDS: ReadonlySet<string> = new Set([
  '_id',
  '_index',
  '_type',
  '_source',
  '_size',
  '_routing',
  '_field_names',
  '_ignored',
  '_meta',
  '_nested_path',
  '_doc_count',
  '_data_stream_timestamp',
  '_seq_no',
  '_primary_term',
  '_version',
  '_tier',
])

/**
 * Older names of what SDKs now send with `.name` behind. OpenSearch holds no value under a name that others continue: while senders move, the records
 * of one of both, and each record with both, would be refused with all their attributes. `environment` has the value of the first.
 */
const OLDER_NAMES: ReadonlySet<string> = new Set(['deployment.environment', 'code.function'])

/** OpenSearch's `index.mapping.depth.limit`. */
const MAX_SEGMENTS = 20
const MAX_KEY_LENGTH = 512

/** Whether an attribute's key flattens to a canonical name, in any spelling (`is.anomaly`): such a one never becomes that field. */
export function isCanonicalName(flattenedKey: string): boolean {
  return CANONICAL_FIELDS.has(flattenedKey)
}

/**
 * Whether an attribute may be a top-level field of the document, under its literal dotted key; otherwise it stands in the
 * `attributes` field: where its first segment or its flattened name is a canonical field, or where OpenSearch has no place for
 * such a key (Decisions 4).
 */
export function isTopLevelKey(key: string): boolean {
  if (key === '' || key.length > MAX_KEY_LENGTH || key.includes('\0') || isCanonicalName(flattenKey(key))) return false
  const segments = key.split('.')
  if (OLDER_NAMES.has(key) || segments.length > MAX_SEGMENTS || segments.some(segment => segment.trim() === '')) return false
  return !CANONICAL_FIELDS.has(segments[0]!) && !METADATA_FIELDS.has(segments[0]!)
}
