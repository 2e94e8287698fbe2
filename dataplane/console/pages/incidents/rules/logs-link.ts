/** Which logs show what an incident says: a query and a time range for the Logs page. */
import type { Evidence, Incident } from '../../../../domain/incidents/incident-fields.ts'
import type { Reason, ReasonKind } from '../../../../domain/root-cause/root-cause.ts'
import { formatTerm } from '../../logs/search/spelling.ts'
import { ownTenant } from './own-tenant.ts'

export interface LogsQuery {
  /** Free text and `field:value`, as in the search box. */
  readonly query: string
  /** The records of one trace across services, in place of a query. */
  readonly trace?: string
  /** The record that is open, with those around it, by the id of its document. */
  readonly record?: string
  /** Whose incident it is, where it has a tenant of its own. */
  readonly tenant?: string
  /** ISO-8601. */
  readonly from: string
  readonly to: string
}

type Span = Pick<Incident, 'firstSeen' | 'lastSeen'> & Partial<Pick<Incident, 'tenantId'>>

const MINUTE_MS = 60_000
/** Time shown before the first and after the last anomaly. */
const BEFORE_MS = 10 * MINUTE_MS
const AFTER_MS = 5 * MINUTE_MS
/** Records that are gone can be seen only beside the time when they were there. */
const LONG_BEFORE_MS = 60 * MINUTE_MS
const SEEN_BY_ABSENCE: ReadonlySet<ReasonKind> = new Set(['missing', 'silence', 'rate', 'calls'])

/** The logs of a reason: its pattern within the service that wrote them, else its samples, else all of the service. */
export function logsOfReason(service: string, reason: Reason, span: Span): LogsQuery {
  const before = SEEN_BY_ABSENCE.has(reason.kind) ? LONG_BEFORE_MS : BEFORE_MS
  // Another service may tell of a change: the platform of a release.
  const within = reason.kind === 'change' ? '' : formatTerm('service', reason.service ?? service)
  return { query: joined(within, whatShows(reason)), ...around(span, before) }
}

function whatShows({ kind, patternId, traceIds, logIds }: Reason): string {
  if (patternId !== undefined) return formatTerm('pattern_id', patternId)
  if (kind === 'errors') return formatTerm('level', 'ERROR', 'FATAL')
  // Lines that are gone, or came at another rate, are seen among all lines of the service.
  if (SEEN_BY_ABSENCE.has(kind)) return ''
  if (kind !== 'change' && traceIds.length > 0) return formatTerm('trace_id', ...traceIds)
  return logIds.length > 0 ? formatTerm('log_id', ...logIds) : ''
}

export function logsOfEvidence(service: string, { patternId }: Pick<Evidence, 'patternId'>, span: Span): LogsQuery {
  return { query: joined(formatTerm('service', service), formatTerm('pattern_id', patternId)), ...around(span, BEFORE_MS) }
}

/** A record of the evidence, and the lines around it. */
export function logsOfRecord(service: string, evidence: Pick<Evidence, 'patternId'>, record: string, span: Span): LogsQuery {
  return { ...logsOfEvidence(service, evidence, span), record }
}

/** The records of a version, from shortly before its first one. */
export function logsOfVersion({ service, version }: { readonly service: string; readonly version: string }, span: Span): LogsQuery {
  const terms = joined(formatTerm('service', service), formatTerm('attributes.service.version', version))
  return { query: terms, ...around(span, 2 * LONG_BEFORE_MS) }
}

export function logsOfService(service: string, span: Span): LogsQuery {
  return { query: formatTerm('service', service), ...around(span, BEFORE_MS) }
}

export function logsOfTrace(traceId: string, span: Span): LogsQuery {
  return { query: '', trace: traceId, ...around(span, LONG_BEFORE_MS) }
}

/** The query of a console that looks at this tenant, or at all of them: services of others may have the same name. */
export function queryFor({ query, tenant }: LogsQuery, looksAt: string | undefined): string {
  return looksAt === undefined && tenant !== undefined ? joined(query, formatTerm('tenant_id', tenant)) : query
}

function around(span: Span, beforeMs: number): Pick<LogsQuery, 'from' | 'to' | 'tenant'> {
  const { firstSeen, lastSeen } = span
  const tenant = ownTenant(span)
  return {
    ...(tenant !== undefined && { tenant }),
    from: new Date(Date.parse(firstSeen) - beforeMs).toISOString(),
    to: new Date(Date.parse(lastSeen) + AFTER_MS).toISOString(),
  }
}

function joined(...parts: readonly string[]): string {
  return parts.filter(part => part !== '').join(' ')
}
