/** Names and help texts of Prometheus metrics that several parts of the program refer to. */

/** The bridge's six Prometheus counters, word for word from the specification (Bridge, `GET /metrics`). */
export const BRIDGE_COUNTERS = {
  etlConsumed: { name: 'service_bridge_etl_consumed_total', help: 'Messages (batches) consumed from raw-logs.' },
  etlRecordsReceived: { name: 'service_bridge_etl_records_received_total', help: 'Individual log records unpacked and flattened.' },
  etlProduced: { name: 'service_bridge_etl_produced_total', help: 'Enriched documents written to enriched-logs.' },
  anomaliesDetected: { name: 'service_bridge_anomalies_detected_total', help: 'Anomalies detected by the Z-score engine.' },
  indexed: { name: 'service_bridge_opensearch_indexed_total', help: 'Documents successfully indexed.' },
  indexErrors: { name: 'service_bridge_opensearch_errors_total', help: 'Indexing errors.' },
} as const
export type BridgeCounter = keyof typeof BRIDGE_COUNTERS

/** New tenants, as the bridge counts them. The names are the product's own: the specification has six counters and no others. */
export const TENANT_COUNTERS = {
  aliasesDelayed: {
    name: 'logpipeline_tenant_aliases_delayed_total',
    help: 'Aliases of tenants seen for the first time that wait for the next minutes.',
  },
  anomaliesDelayed: {
    name: 'logpipeline_tenant_anomalies_delayed_total',
    help: "Anomalies that wait in the default tenant's index until their own tenant has one.",
  },
  anomaliesResumed: { name: 'logpipeline_tenant_anomalies_resumed_total', help: 'Anomalies whose wait is over.' },
} as const

/** All counters of the bridge. */
export const BRIDGE_METRICS = { ...BRIDGE_COUNTERS, ...TENANT_COUNTERS }
export type BridgeMetric = keyof typeof BRIDGE_METRICS

/** Records that a step of the bridge or of a stream job gave up, by the step and the tenant. */
export const DEAD_LETTERS_COUNTER = {
  name: 'logpipeline_dead_letters_total',
  help: 'Records that went to the dead-letter queue, by the step that gave them up and the tenant.',
} as const

/** The online feature server. */
export const FEATURES_COUNTERS = {
  rowsRead: { name: 'service_features_rows_read_total', help: 'Services whose features were asked for.' },
  rowsWritten: { name: 'service_features_rows_written_total', help: 'Services whose features were pushed.' },
} as const

/** Runs of `feature_compute` that have ended. */
export const SCHEDULER_COUNTERS = {
  succeeded: { name: 'service_scheduler_runs_succeeded_total', help: 'Runs that computed the features of their hour.' },
  failed: { name: 'service_scheduler_runs_failed_total', help: 'Runs given up after the last try.' },
} as const

/** State changes that the ticketing agent made, by the action that asked for them. */
export const TICKETING_COUNTERS = {
  acknowledge: { name: 'service_ticketing_acknowledged_total', help: 'Incidents acknowledged.' },
  resolve: { name: 'service_ticketing_resolved_total', help: 'Incidents resolved.' },
  escalate: { name: 'service_ticketing_escalated_total', help: 'Incidents escalated.' },
  reopen: { name: 'service_ticketing_reopened_total', help: 'Incidents reopened.' },
} as const

/** Outcomes of dispatches, by the platform of the target. */
export const DISPATCH_ATTEMPTS_COUNTER = {
  name: 'logpipeline_ticketing_dispatch_attempts_total',
  help: 'Attempts to tell a ticket platform of an incident, by platform and result (delivered, rejected, refused by a target that takes nothing until it is mended, retryable).',
} as const

/** By target; the operator reads them for the status of a TicketingRoute. */
export const TARGET_METRICS = {
  dispatched: { name: 'logpipeline_ticketing_dispatched_total', help: 'Dispatches that a target took.' },
  failed: { name: 'logpipeline_ticketing_failed_total', help: 'Dispatches that are not tried again: refused, or given up after 24 h.' },
  lastDispatch: {
    name: 'logpipeline_ticketing_last_dispatch_timestamp_seconds',
    help: 'When a target last took a dispatch, seconds since the epoch.',
  },
  lastFailure: {
    name: 'logpipeline_ticketing_last_failure_timestamp_seconds',
    help: 'When an attempt to tell a target failed last, seconds since the epoch.',
  },
} as const

export const UNTOLD_COUNTER = {
  name: 'logpipeline_ticketing_untold_total',
  help: 'Incidents that nobody was told of: their platforms are switched off or not configured, or nothing is routed for their severity.',
} as const

export const OLDEST_DISPATCH_GAUGE = {
  name: 'logpipeline_ticketing_oldest_pending_seconds',
  help: 'How long the oldest dispatch waits that is neither sent nor given up.',
} as const

/** Outcomes of questions about incidents to a language model. */
export const LLM_VERDICTS_COUNTER = {
  name: 'service_ticketing_llm_verdicts_total',
  help: 'Incidents that a language model was to explain, by what came of it.',
} as const
export const LLM_TOKENS_COUNTER = {
  name: 'service_ticketing_llm_tokens_total',
  help: 'Tokens that language models counted, by direction (input, output).',
} as const
export const LLM_SECONDS_COUNTER = { name: 'service_ticketing_llm_seconds_total', help: 'Time spent waiting for language models.' } as const

/** Requests that the dashboard passed on or answered itself. */
export const DASHBOARD_REQUESTS_COUNTER = {
  name: 'logpipeline_dashboard_requests_total',
  help: 'Requests by the service that they went to (console: the dashboard itself) and the class of the answer (2xx, 4xx, 5xx).',
} as const
export const UPLOAD_COUNTERS = {
  accepted: { name: 'logpipeline_upload_accepted_total', help: 'Entries of uploads that the collector took.' },
  rejected: { name: 'logpipeline_upload_rejected_total', help: 'Entries of uploads that are no log records.' },
} as const
