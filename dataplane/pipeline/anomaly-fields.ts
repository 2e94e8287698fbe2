/** Reads the fields of a flat record that its anomaly has, where the writer of the record knew the others. */
import type { AnomalousRecord } from '../domain/anomalies/anomaly.ts'
import { DOCUMENT_ID_AT, DOCUMENT_ID_END } from './flat-record-layout.ts'
import type { FlatRow } from './flat-row.ts'

const TIMESTAMP = ',"@timestamp":"'
const LOG_ID = ',"log_id":"'
const TENANT = ',"tenant_id":"'
const SERVICE = ',"service":"'
const TRACE_ID = ',"trace_id":"'
const SPAN_ID = ',"span_id":"'
const MESSAGE = ',"message":"'
const PATTERN_ID = ',"pattern_id":"'
const PATTERN = ',"pattern":"'

/** Where the value that was read last ends. */
let end = 0

/**
 * The fields by their place in the text: parsing all of it costs three times as much, and most of what comes out is garbage at once. Undefined where
 * the text has escapes, or is laid out otherwise: it has to be parsed.
 */
export function findAnomalyFields({ bytes, start, layout, known }: FlatRow): AnomalousRecord | undefined {
  if (known === undefined) return undefined
  const text = bytes.toString('utf8', start, start + layout.canonicalEnd)
  // Without escapes no string holds a quote, so that a member's name stands nowhere else.
  if (text.includes('\\')) return undefined
  end = 0
  const timestamp = valueBehind(TIMESTAMP, text)
  const logId = valueBehind(LOG_ID, text)
  const tenant = valueBehind(TENANT, text)
  const service = valueBehind(SERVICE, text)
  const traceId = valueBehind(TRACE_ID, text)
  const spanId = valueBehind(SPAN_ID, text)
  const message = valueBehind(MESSAGE, text)
  const patternId = valueBehind(PATTERN_ID, text)
  const pattern = valueBehind(PATTERN, text)
  if (timestamp === undefined || logId === undefined || tenant === undefined || service === undefined) return undefined
  if (message === undefined || patternId === undefined || pattern === undefined) return undefined
  const { level, features } = known
  return {
    document_id: text.slice(DOCUMENT_ID_AT, DOCUMENT_ID_END),
    '@timestamp': timestamp,
    log_id: logId,
    tenant_id: tenant,
    service,
    level,
    message,
    pattern_id: patternId,
    pattern,
    trace_id: traceId,
    span_id: spanId,
    ml_error_rate_1h: features.ml_error_rate_1h,
    ml_p99_latency_1h: features.ml_p99_latency_1h,
    ml_request_rate_1h: features.ml_request_rate_1h,
    ml_anomaly_history_count: features.ml_anomaly_history_count,
  }
}

/** The string of the next member with that name; undefined where there is none. */
function valueBehind(mark: string, text: string): string | undefined {
  const at = text.indexOf(mark, end)
  if (at < 0) return undefined
  const from = at + mark.length
  end = text.indexOf('"', from)
  return text.slice(from, end)
}
