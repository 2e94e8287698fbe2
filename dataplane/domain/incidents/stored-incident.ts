import type { TicketedIncident } from '../tickets/incident-tickets.ts'
import type { AuditEntry } from './audit-entry.ts'
import type { Incident, IncidentSteps } from './incident-fields.ts'

/**
 * An incident as it is stored. `lastChange` is the audit entry of its latest state change, written in one step with the change:
 * a crash before the entry reaches the audit index loses nothing: the next reader or writer of the incident puts it there.
 */
export type StoredIncident = TicketedIncident & { readonly lastChange?: AuditEntry }

/** Fields that callers always get. */
type ShownIncident = Incident & IncidentSteps & Required<Pick<Incident, 'traceId' | 'platforms' | 'dispatches' | 'recurring'>>

/** The incident as callers see it; `traceId` is empty where no anomaly of it has a trace (Decisions 6). */
export function toIncident(
  { lastChange: _l, ticketing, ...incident }: StoredIncident,
  dispatches: Incident['dispatches'] = {},
): ShownIncident {
  const { traceId = '', recurring = false } = incident
  const { analysed, grewAt, untold } = ticketing ?? {}
  return {
    ...incident,
    ...(analysed !== undefined && analysed.hasFailed !== true && { analysedAt: analysed.at }),
    ...(grewAt !== undefined && { grewAt }),
    ...(untold !== undefined && incident.platforms.length === 0 && { untold }),
    ...{ traceId, recurring, dispatches },
  }
}
