/** Writes what a ticket says, for somebody who reads it at three in the morning (Decisions 6). */
import type { Severity } from '../../contract/platforms.ts'
import { listWords } from '../../text/listed.ts'
import { shortened } from '../../text/shortened.ts'
import { inReadingOrder } from '../incidents/evidence-order.ts'
import type { Incident } from '../incidents/incident-fields.ts'
import { wordsOfPattern } from '../records/pattern-words.ts'
import { readableText, wordsOfFields } from '../records/readable-text.ts'
import { wordsOfLine } from '../records/words-of-line.ts'
import type { RootCause } from '../root-cause/root-cause.ts'
import { standsOut } from '../root-cause/stands-out.ts'
import { asksForHelp } from './escalation.ts'
import { maskCredentials } from './mask-credentials.ts'
import type { OutboxRow, StateChange } from './outbox-row.ts'
import type { SampleLine, TicketContent, TicketEvidence } from './ticket-content.ts'
import type { TicketEvent } from './ticket-event.ts'

/** Patterns that a ticket shows, the most frequent first, and sample records of each. */
export const MAX_PATTERNS = 3
export const MAX_SAMPLES = 2
const MAX_REASONS = 3
const MAX_NAMED_SERVICES = 4
const MAX_MESSAGE_LENGTH = 1_000
const MAX_LINE_LENGTH = 120

export interface ContentSource {
  readonly incident: Incident
  readonly row: Pick<OutboxRow, 'event' | 'severity' | 'change' | 'news'>
  /** By `sampleKey`. */
  readonly samples: ReadonlyMap<string, SampleLine>
  /** URL of the console. */
  readonly publicUrl?: string
}

export function buildTicketContent({ incident, row, samples, publicUrl }: ContentSource): TicketContent {
  const severity = row.severity ?? incident.severity
  const { rootCause } = incident
  return {
    incidentId: incident.id,
    tenantId: incident.tenantId,
    title: maskCredentials(incident.title),
    sentence: buildSentence(incident, samples),
    severity,
    status: incident.status,
    service: incident.service,
    affectedServices: incident.affectedServices,
    anomalyCount: incident.anomalyCount,
    firstSeen: incident.firstSeen,
    lastSeen: incident.lastSeen,
    recurring: incident.recurring ?? false,
    ...(rootCause !== undefined && { cause: buildCause(rootCause) }),
    evidence: buildEvidence(incident, samples),
    nextAction: nextAction(incident, row, severity),
    ...(publicUrl !== undefined &&
      publicUrl !== '' && { link: `${publicUrl.replace(/\/$/, '')}/incidents/${encodeURIComponent(incident.id)}` }),
    ...(row.change !== undefined && { change: row.change }),
    news: row.news.map(maskCredentials),
  }
}

/** Records of one instant share their `log_id` where nobody traces: the pattern tells which of them is meant. */
export function sampleKey(patternId: string, logId: string): string {
  return `${patternId} ${logId}`
}

/** Log ids of the samples that a ticket shows. */
export function sampleIds({ evidence }: Pick<Incident, 'evidence'>): readonly string[] {
  return mostTelling(evidence).flatMap(({ logIds }) => logIds.slice(0, MAX_SAMPLES))
}

function mostTelling(evidence: Incident['evidence']): Incident['evidence'] {
  return inReadingOrder(evidence).slice(0, MAX_PATTERNS)
}

function buildEvidence({ evidence }: Incident, samples: ReadonlyMap<string, SampleLine>): readonly TicketEvidence[] {
  return mostTelling(evidence).map(each => ({
    pattern: wordsOf(each, samples),
    count: each.count,
    samples: each.logIds
      .flatMap(id => samples.get(sampleKey(each.patternId, id)) ?? [])
      .slice(0, MAX_SAMPLES)
      .map(sample => ({ ...sample, message: shortened(maskCredentials(readableText(sample.message)), MAX_MESSAGE_LENGTH) })),
  }))
}

/** The pattern behind the head that its logger wrote; where it says nothing, the words of a sample. */
function wordsOf({ pattern, patternId, logIds }: Incident['evidence'][number], samples: ReadonlyMap<string, SampleLine>): string {
  const [sample] = logIds.flatMap(id => samples.get(sampleKey(patternId, id)) ?? [])
  return maskCredentials((sample && wordsOfFields(pattern, sample.message)) ?? wordsOfLine(wordsOfPattern(pattern) ?? pattern))
}

function buildCause({ summary, mode, fallback, candidates }: RootCause): NonNullable<TicketContent['cause']> {
  return {
    summary: maskCredentials(summary),
    mode,
    fallback,
    candidates: candidates.map(({ service, score, reasons }) => ({
      service,
      score,
      reasons: reasons.slice(0, MAX_REASONS).map(({ text }) => maskCredentials(text)),
    })),
  }
}

/** `checkout logged 12 anomalies between 2026-01-01 02:14:07 and 02:15:31 UTC, most often “Connection refused to <*>”; payment and cart are affected, too.` */
function buildSentence(incident: Incident, samples: ContentSource['samples']): string {
  const { service, anomalyCount, firstSeen, lastSeen, evidence, affectedServices, furtherServices } = incident
  const [first] = mostTelling(evidence)
  const words = first === undefined ? '' : wordsOf(first, samples)
  const what = anomalyCount === 1 ? 'an anomaly' : `${anomalyCount} anomalies`
  const lead = anomalyCount === 1 ? ': ' : first?.count === 1 ? ', among them ' : ', most often '
  const most = words === '' ? '' : `${lead}“${oneLine(words)}”`
  return `${service} logged ${what} ${sayWhen(firstSeen, lastSeen)} UTC${most}${describeOthers(
    affectedServices.filter(other => other !== service),
    furtherServices,
  )}.`
}

/** With the date: tickets are read on other days, too, and of records that came late or were silenced they are also sent on one. */
function sayWhen(firstSeen: string, lastSeen: string): string {
  const [first, last] = [firstSeen, lastSeen].map(time => `${time.slice(0, 10)} ${timeOfDay(time)}`)
  if (first === last) return `at ${first}`
  return `between ${first} and ${firstSeen.slice(0, 10) === lastSeen.slice(0, 10) ? timeOfDay(lastSeen) : last}`
}

function describeOthers(others: readonly string[], further = 0): string {
  if (others.length === 0) return ''
  const named = others.slice(0, MAX_NAMED_SERVICES)
  const rest = others.length - named.length + further
  const words = rest === 0 ? named : [...named, `${rest} more`]
  return `; ${listWords(words)} ${others.length === 1 ? 'is' : 'are'} affected, too`
}

function nextAction(incident: Incident, { event, change }: ContentSource['row'], severity: Severity): string {
  switch (event) {
    case 'resolve':
      return 'Do nothing more; reopen the incident if it comes back.'
    case 'acknowledge':
      return `Leave it to ${change?.actor ?? 'the person who acknowledged it'}, unless you are asked for help.`
    default:
      break
  }
  if (asksForHelp(event, change)) return `Take it now: ${whyNow(event, change)}. ${whereToLook(incident)}`
  if (incident.recurring === true)
    return `Decide whether this is known noise: ${incident.service} logs it all day. If it is, silence it; if not, mend it in working hours.`
  const isTakenCareOf = incident.status !== 'open'
  const urgency = isTakenCareOf ? '' : severity === 'critical' ? 'Acknowledge it now. ' : severity === 'high' ? 'Acknowledge it. ' : ''
  return `${urgency}${whereToLook(incident)}`
}

/** A change to a ticket that is there has the note beside this. */
function whyNow(event: TicketEvent, { actor, note }: Partial<StateChange> = {}): string {
  const why = actor === 'auto' ? 'nobody acknowledged it in time' : `${actor ?? 'somebody'} asks for help`
  return event !== 'open' || note === undefined ? why : `${why}, “${shortened(note.replaceAll(/\s+/g, ' '), MAX_MESSAGE_LENGTH)}”`
}

function whereToLook({ service, rootCause, firstSeen }: Incident): string {
  const [first, second] = rootCause?.candidates ?? []
  // A service that is only the most unusual one is no place to send somebody to at night.
  if (first === undefined || !standsOut(first))
    return `Read what ${service} logged from ${timeOfDay(firstSeen)} UTC on, and what was changed shortly before.`
  const then = second === undefined || second.score < first.score / 2 ? '' : `, then at ${second.service}`
  const origin = first.service === service ? '' : `, not at ${service}, which only shows it`
  return `Look at ${first.service} first${then}${then === '' ? origin : ''}: what was deployed or changed there before ${timeOfDay(firstSeen)} UTC?`
}

/** `02:14:07` */
function timeOfDay(time: string): string {
  return time.slice(11, 19)
}

function oneLine(text: string): string {
  return shortened(text.replaceAll(/\s+/g, ' ').trim(), MAX_LINE_LENGTH)
}
