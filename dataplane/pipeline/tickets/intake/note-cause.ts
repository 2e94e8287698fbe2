/** Notes in an incident what was found out about its cause, and when something is to be done about it the next time. */
import type { TargetId } from '../../../contract/target-id.ts'
import type { RootCause } from '../../../domain/root-cause/root-cause.ts'
import { nextAnalysisMs } from '../../../domain/tickets/cause-timing.ts'
import { owe, type TicketedIncident } from '../../../domain/tickets/incident-tickets.ts'
import { isoTime } from '../../../domain/time/iso-time.ts'
import type { FoundCause } from './find-cause.ts'

/** Undefined: it was looked for, and could not be found out. */
export type CauseOutcome = FoundCause | undefined | 'not now'

export function withCause(incident: TicketedIncident, outcome: CauseOutcome, nowMs: number): TicketedIncident {
  const noted =
    outcome === 'not now' ? incident : outcome === undefined ? withFailure(incident, nowMs) : withFound(incident, outcome, nowMs)
  return noted.ticketing?.owed === undefined ? scheduled(noted, nowMs) : noted
}

/** Notes when something is to be done about the incident the next time, even without a change. */
export function scheduled(incident: TicketedIncident, nowMs: number): TicketedIncident {
  const { attentionAt, ...rest } = incident.ticketing ?? {}
  const later = attentionAt !== undefined && Date.parse(attentionAt) > nowMs ? Date.parse(attentionAt) : undefined
  const stillOwed = (rest.owed ?? []).length > 0 ? nowMs : undefined
  const times = [later, nextAnalysisMs(incident), stillOwed].filter(time => time !== undefined)
  return { ...incident, ticketing: times.length === 0 ? rest : { ...rest, attentionAt: isoTime(Math.max(0, Math.min(...times))) } }
}

function withFailure(incident: TicketedIncident, nowMs: number): TicketedIncident {
  const { severity, affectedServices: services, ticketing } = incident
  const { windowMs = 0, failures = 0 } = ticketing?.analysed ?? {}
  const analysed = { at: isoTime(nowMs), severity, services, windowMs, hasFailed: true, failures: failures + 1 }
  return { ...incident, ticketing: { ...ticketing, analysed } }
}

function withFound(incident: TicketedIncident, { rootCause, windowMs }: FoundCause, nowMs: number): TicketedIncident {
  const { severity, affectedServices: services, ticketing } = incident
  const { explainedAt, ...unexplained } = ticketing ?? {}
  const analysed = { at: isoTime(nowMs), severity, services, windowMs }
  // A model's words, or the note that it could not be used, stand unless the rules find another service: then the model is asked again.
  const isSame = incident.rootCause?.candidates[0]?.service === rootCause.candidates[0]?.service
  const next: TicketedIncident = {
    ...incident,
    rootCause: isSame ? keepWords(incident.rootCause, rootCause) : rootCause,
    ticketing: { ...unexplained, ...(isSame && explainedAt !== undefined && { explainedAt }), analysed },
  }
  if (!isLateNews(incident, rootCause.candidates[0]?.service)) return next
  return owe(next, { event: 'comment', at: isoTime(nowMs), targets: incident.platforms as readonly TargetId[], news: [rootCause.summary] })
}

function keepWords(before: RootCause | undefined, now: RootCause): RootCause {
  if (before?.mode === 'llm') return before
  return before?.fallback === true ? { ...now, fallback: true } : now
}

/** The ticket is out, and names no cause or another one. */
function isLateNews({ ticketing, platforms, rootCause }: TicketedIncident, service: string | undefined): boolean {
  if (service === undefined || platforms.length === 0 || ticketing?.analysed === undefined) return false
  const isOpening = ticketing.owed?.some(({ event }) => event === 'open') ?? false
  return !isOpening && ticketing.quietBy === undefined && rootCause?.candidates[0]?.service !== service
}
