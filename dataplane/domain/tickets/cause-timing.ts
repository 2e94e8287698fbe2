/** When the cause of an incident is looked for (Decisions 6). */
import { compareSeverity } from '../incidents/severity.ts'
import type { TicketedIncident } from './incident-tickets.ts'

/** A cause may show this long before the first anomaly, ms; the first is the usual one. */
const LEADS_MS = [15_000, 60_000, 180_000] as const
/** The longest window that an analysis looks at, ms. */
export const FULL_WINDOW_MS = 180_000
/** The shortest time between two searches for a cause, ms. */
const PAUSE_MS = 60_000
/** Records of the end of the window are searchable by then. */
const SETTLE_MS = 5_000
const MAX_FAILURES = 3

/** The time of an analysis, which is compared with the time before. */
export function analysisTime({ firstSeen }: Pick<TicketedIncident, 'firstSeen'>): number {
  return Date.parse(firstSeen) - LEADS_MS[0]
}

/** Where the window of an analysis of that time may begin, ms since the epoch: anomalies come late. */
export function analysisStarts(atMs: number): readonly number[] {
  return LEADS_MS.map(leadMs => atMs + LEADS_MS[0] - leadMs)
}

/**
 * The next time, ms since the epoch; undefined when none is to come. At first before anybody is told; again when the incident grew much, and once when
 * all of the window is there: where it was at once, a minute later.
 */
export function nextAnalysisMs(incident: TicketedIncident): number | undefined {
  const { ticketing, status, severity, affectedServices } = incident
  if (status === 'resolved' || ticketing?.quietBy === 'age') return undefined
  const last = ticketing?.analysed
  if (last === undefined) return Number.NEGATIVE_INFINITY
  const soonestMs = Date.parse(last.at) + PAUSE_MS
  if (last.hasFailed === true) return (last.failures ?? 1) < MAX_FAILURES ? soonestMs : undefined
  const hasGrown = compareSeverity(severity, last.severity) > 0 || affectedServices.some(service => !last.services.includes(service))
  if (hasGrown) return soonestMs
  if (last.windowMs >= FULL_WINDOW_MS) return isEarlyLook(incident, Date.parse(last.at)) ? soonestMs : undefined
  // Where the sender's clock is ahead, the time of its records comes long after they are all there.
  const beginsMs = Math.min(analysisTime(incident), Date.parse(incident.createdAt))
  return Math.max(soonestMs, beginsMs + FULL_WINDOW_MS + SETTLE_MS)
}

/** An early analysis sees few records where they come late, as after an outage: the others are still to be stored. */
function isEarlyLook(incident: TicketedIncident, analysedMs: number): boolean {
  const createdMs = Date.parse(incident.createdAt)
  return createdMs >= analysisTime(incident) + FULL_WINDOW_MS && analysedMs < createdMs + PAUSE_MS
}
