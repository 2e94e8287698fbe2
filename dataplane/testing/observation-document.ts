import { hash } from 'node:crypto'
import type { Observation } from '../domain/root-cause/observed/observation.ts'

export const hex = (text: string, length: number) => hash('sha256', text, 'hex').slice(0, length)

/** The document of a record that the search for a root cause sees as this, as the indexer writes it; `more` are further fields. */
export function buildObservationDocument(tenant: string, each: Observation, more: object = {}): string {
  return JSON.stringify({
    timestamp: new Date(each.timeMs).toISOString(),
    nanos: Math.round((each.timeMs % 1) * 1e6),
    time_unix_nano: `${BigInt(Math.round(each.timeMs * 1e3)) * 1000n}`,
    log_id: hex(`${tenant} ${each.logId}`, 32),
    tenant_id: tenant,
    service: each.service,
    level: each.isError ? 'ERROR' : 'INFO',
    message: each.pattern,
    pattern: each.pattern,
    pattern_id: hex(each.pattern, 16),
    ...(each.traceId !== '' && { trace_id: hex(each.traceId, 32), span_id: hex(each.spanId, 16) }),
    ...more,
  })
}
