/** Reads the sample records that a ticket shows. */
import { ALL_LOGS } from '../../../contract/indices.ts'
import type { Incident } from '../../../domain/incidents/incident-fields.ts'
import { EXCEPTION_KEYS, MAX_EXCEPTION_MESSAGE } from '../../../domain/records/exception-message.ts'
import { sampleIds, sampleKey } from '../../../domain/tickets/build-ticket-content.ts'
import type { SampleLine } from '../../../domain/tickets/ticket-content.ts'
import type { SearchStore } from '../../../ports/search-store.ts'

/** Records with the same `log_id` and pattern: many, where a clock ticks in seconds. */
const MAX_RECORDS = 100
/** Around the incident: indices of other days are not searched. */
const MARGIN_MS = 3_600_000
const FIELDS = ['log_id', 'timestamp', 'level', 'service', 'message', 'trace_id', 'pattern_id', ...EXCEPTION_KEYS]

interface StoredRecord {
  readonly log_id: string
  readonly timestamp: string
  readonly level?: string
  readonly service?: string
  readonly message?: string
  readonly trace_id?: string
  readonly pattern_id: string
  readonly 'exception.type'?: unknown
  readonly 'exception.message'?: unknown
}

/** By `sampleKey`. */
export async function readSamples(store: SearchStore, incident: Incident): Promise<ReadonlyMap<string, SampleLine>> {
  const ids = sampleIds(incident)
  if (ids.length === 0) return new Map()
  const gte = new Date(Date.parse(incident.firstSeen) - MARGIN_MS).toISOString()
  const lte = new Date(Date.parse(incident.lastSeen) + MARGIN_MS).toISOString()
  const { hits } = await store.search<StoredRecord>({
    index: ALL_LOGS,
    takesPart: true,
    body: {
      size: MAX_RECORDS,
      track_total_hits: false,
      seq_no_primary_term: false,
      _source: FIELDS,
      query: {
        bool: {
          filter: [
            { term: { tenant_id: incident.tenantId } },
            { terms: { log_id: ids } },
            // Records that were logged at the same time without a trace have the same `log_id`: those of others, and other ones of the service.
            { terms: { service: [incident.service, ...incident.affectedServices] } },
            { terms: { pattern_id: incident.evidence.map(({ patternId }) => patternId) } },
            { range: { timestamp: { gte, lte } } },
          ],
        },
      },
    },
  })
  return new Map(
    hits.map(({ source, source: { log_id, timestamp, level, service, trace_id, pattern_id } }) => [
      sampleKey(pattern_id, log_id),
      {
        logId: log_id,
        timestamp,
        level: level ?? 'INFO',
        service: service ?? incident.service,
        message: withException(source),
        ...(trace_id !== undefined && { traceId: trace_id }),
      },
    ]),
  )
}

/** The message, and the exception that a logger was given beside a message that does not say it. */
function withException(record: StoredRecord): string {
  const message = String(record.message ?? '')
  const [type, why] = EXCEPTION_KEYS.map(key => record[key]).map(text => (typeof text === 'string' ? text : ''))
  const exception = [type, why]
    .filter(text => text)
    .join(': ')
    .slice(0, MAX_EXCEPTION_MESSAGE)
    .toWellFormed()
  const isSaid = exception === '' || message.includes(why || exception)
  return isSaid ? message : `${message} – ${exception}`
}
