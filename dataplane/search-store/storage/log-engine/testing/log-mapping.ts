import type { MappingConfig } from '../../../mapping/mapping-config.ts'

const keyword = { type: 'keyword' }

/** A mapping as the template of the daily log indices has it. */
export const LOG_MAPPING: MappingConfig = {
  dateDetection: false,
  totalFieldsLimit: 3000,
  dynamicTemplates: [{ strings: { match_mapping_type: 'string', mapping: { type: 'keyword', ignore_above: 1024 } } }],
  properties: {
    timestamp: { type: 'date' },
    nanos: { type: 'integer' },
    time_unix_nano: { type: 'keyword', index: false },
    log_id: keyword,
    level: keyword,
    severity_number: { type: 'integer' },
    message: { type: 'text' },
    service: keyword,
    tenant_id: keyword,
    trace_id: keyword,
    span_id: keyword,
    host: keyword,
    environment: keyword,
    region: keyword,
    batch_id: keyword,
    anomaly_score: { type: 'float' },
    is_anomaly: { type: 'boolean' },
    pattern_id: keyword,
    pattern: keyword,
    ml_error_rate_1h: { type: 'float' },
    ml_p99_latency_1h: { type: 'float' },
    ml_request_rate_1h: { type: 'float' },
    ml_anomaly_history_count: { type: 'integer' },
    enriched: { type: 'boolean' },
    attributes: { type: 'flat_object' },
  },
}
