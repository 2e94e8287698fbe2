/** The content of a ticket in its order, before any platform's form of it: what happened, what to do, why, the evidence, the facts. */
import type { SampleLine, TicketContent, TicketEvidence } from '../../../domain/tickets/ticket-content.ts'
import type { TicketEvent } from '../../../domain/tickets/ticket-event.ts'
import { cleanText, cutText, oneLine } from './cut-text.ts'
import { clockTime, elapsed, utcTime } from './times.ts'

/** `strong` and `code` are all the styles that every platform has. */
export interface Span {
  readonly text: string
  readonly style?: 'strong' | 'code'
}

export type Block =
  | { readonly kind: 'paragraph'; readonly spans: readonly Span[] }
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly (readonly Span[])[] }
  | { readonly kind: 'code'; readonly lines: readonly string[] }
  | { readonly kind: 'facts'; readonly facts: readonly Fact[] }

export interface Fact {
  readonly label: string
  readonly value: string
}

/** All texts are clean (`cleanText`) and not escaped. */
export interface TicketDocument {
  /** The first line: severity and what happened, or what changed. */
  readonly lead: readonly Span[]
  readonly blocks: readonly Block[]
  /** To the incident in the console. */
  readonly link?: string
}

/** How much of each thing is told; platforms with little room take less. */
export interface Detail {
  readonly candidates: number
  readonly reasons: number
  readonly patterns: number
  readonly samples: number
  readonly lineLength: number
}

export const FULL: Detail = { candidates: 5, reasons: 5, patterns: 5, samples: 5, lineLength: 1_000 }
export const SHORT: Detail = { candidates: 3, reasons: 3, patterns: 3, samples: 3, lineLength: 300 }
export const SHORTER: Detail = { candidates: 3, reasons: 2, patterns: 2, samples: 1, lineLength: 150 }
export const SHORTEST: Detail = { candidates: 1, reasons: 1, patterns: 1, samples: 0, lineLength: 100 }
const MAX_SERVICES = 20
/** Lines of one message, such as a stack trace. */
const MAX_LINES = 8

/** All there is to say: for a ticket that is new on the platform. */
export function describeIncident(content: TicketContent, detail: Detail = FULL): TicketDocument {
  return {
    lead: [{ text: `${SEVERITY_WORDS[content.severity]}.`, style: 'strong' }, { text: ` ${oneLine(content.sentence)}` }],
    blocks: [
      ...(content.recurring ? [paragraph('Nothing new for this service: the same records came at a like rate before.')] : []),
      { kind: 'heading', text: 'Next step' },
      paragraph(content.nextAction),
      ...describeCause(content, detail),
      ...describeEvidence(content.evidence, detail),
      { kind: 'heading', text: 'Incident' },
      { kind: 'facts', facts: factsOf(content) },
    ],
    ...(content.link !== undefined && { link: content.link }),
  }
}

/** A change, for a ticket that is there already. */
export function describeChange(event: TicketEvent, content: TicketContent, detail: Detail = FULL): TicketDocument {
  const news = content.news.map(oneLine).filter(each => each !== '')
  const note = cleanText(content.change?.note ?? '').trim()
  const isOne = news.length === 1
  return {
    lead: isOne ? [...leadOf(event, content), { text: ` ${news[0]}` }] : leadOf(event, content),
    blocks: [
      ...(note === '' ? [] : [{ kind: 'paragraph', spans: [{ text: `“${note}”` }] } as const]),
      ...(news.length === 0 || isOne ? [] : [{ kind: 'list', items: news.map(text => [{ text }]) } as const]),
      ...(STILL_BURNING.has(event) ? [paragraph(content.sentence)] : []),
      ...(ASKS_FOR_MORE.has(event) && content.status !== 'resolved' ? [paragraph(`Next step: ${content.nextAction}`)] : []),
      ...(STILL_BURNING.has(event) ? describeCause(content, { ...detail, candidates: 1, reasons: 2 }) : []),
    ],
    ...(content.link !== undefined && { link: content.link }),
  }
}

/** For platforms where each event is a message: the first one tells all there is, with what changed at its head. */
export function describeEvent(event: TicketEvent, isFirst: boolean, content: TicketContent, detail: Detail = FULL): TicketDocument {
  if (event === 'open') return describeIncident(content, detail)
  const change = describeChange(event, content, detail)
  if (!isFirst || !TELLS_ALL.has(event)) return change
  const whole = describeIncident(content, detail)
  return { ...whole, lead: change.lead, blocks: [{ kind: 'paragraph', spans: whole.lead }, ...whole.blocks] }
}

const TELLS_ALL: ReadonlySet<TicketEvent> = new Set(['update', 'escalate', 'reopen'])
export const SEVERITY_WORDS = { critical: 'Critical', high: 'High', medium: 'Medium', low: 'Low' } as const
/** A cause that is named later, or more that is affected, changes the next step. */
const ASKS_FOR_MORE: ReadonlySet<TicketEvent> = new Set(['escalate', 'reopen', 'comment', 'update'])
const STILL_BURNING: ReadonlySet<TicketEvent> = new Set(['escalate', 'reopen'])
const EVENT_WORDS: Readonly<Record<TicketEvent, string>> = {
  open: 'Opened',
  update: 'Changed',
  acknowledge: 'Acknowledged',
  resolve: 'Resolved',
  escalate: 'Escalated',
  reopen: 'Opened again',
  comment: 'Note',
}

/** Such as `Resolved` and ` by alice at 2026-01-01 10:12:00 UTC, 14 min after the first anomaly.` */
function leadOf(event: TicketEvent, content: TicketContent): readonly Span[] {
  const { change } = content
  const who = change?.actor === undefined ? '' : change.actor === 'auto' ? ' automatically' : ` by ${oneLine(change.actor)}`
  const when = change === undefined ? '' : ` at ${utcTime(change.at)}`
  const after = event === 'resolve' && change !== undefined ? elapsed(content.firstSeen, change.at) : undefined
  const rest = `${who}${when}${after === undefined ? '' : `, ${after} after the first anomaly`}`
  return rest === ''
    ? [{ text: `${EVENT_WORDS[event]}.`, style: 'strong' }]
    : [{ text: EVENT_WORDS[event], style: 'strong' }, { text: `${rest}.` }]
}

function describeCause({ cause }: TicketContent, { candidates, reasons }: Detail): readonly Block[] {
  if (cause === undefined) return []
  const by =
    cause.mode === 'llm' ? ' (by the language model)' : cause.fallback ? ' (by the rules; the language model was not available)' : ''
  const told = reasonsOf(cause, candidates, reasons)
  return [
    { kind: 'heading', text: `Likely cause${by}` },
    paragraph(cause.summary),
    ...(told.length === 0 ? [] : [{ kind: 'list', items: told.map(describeReason) } as const]),
  ]
}

export interface ToldReason {
  readonly service: string
  readonly text: string
}

/** Reasons that the summary does not give already. */
export function reasonsOf(cause: NonNullable<TicketContent['cause']>, candidates: number, reasons: number): readonly ToldReason[] {
  return cause.candidates
    .slice(0, candidates)
    .flatMap(({ service, reasons: all }) => all.slice(0, reasons).map(text => ({ service: oneLine(service), text: oneLine(text) })))
    .filter(({ text }) => text !== '' && !oneLine(cause.summary).includes(text))
}

function describeReason({ service, text }: ToldReason): readonly Span[] {
  return [{ text: service, style: 'strong' }, { text: `: ${text}` }]
}

function describeEvidence(evidence: readonly TicketEvidence[], detail: Detail): readonly Block[] {
  const told = evidence.slice(0, detail.patterns)
  if (told.length === 0) return []
  return [{ kind: 'heading', text: 'Evidence' }, ...told.flatMap(each => describePattern(each, detail))]
}

function describePattern({ pattern, count, samples }: TicketEvidence, { samples: max, lineLength }: Detail): readonly Block[] {
  const lines = samples.slice(0, max).flatMap(sample => sampleLines(sample, lineLength))
  return [
    {
      kind: 'paragraph',
      spans: [
        { text: count === 1 ? 'Once: ' : `${count} times: ` },
        { text: cutText(oneLine(pattern), lineLength) || '(empty message)', style: 'code' },
      ],
    },
    ...(lines.length === 0 ? [] : [{ kind: 'code', lines } as const]),
  ]
}

/** `10:03:11.204 ERROR checkout Connection refused to 10.0.0.3:5432`; further lines of the message below. */
export function sampleLines({ timestamp, level, service, message }: SampleLine, max: number): readonly string[] {
  const [first = '', ...others] = cutText(cleanText(message), max)
    .split('\n')
    .map(line => line.replaceAll('\t', '    ').trimEnd())
    .filter(line => line !== '')
  const further = others.length < MAX_LINES ? others : [...others.slice(0, MAX_LINES - 2), '    …']
  return [oneLine(`${clockTime(timestamp)} ${level} ${service} ${first}`), ...further]
}

export function factsOf(content: TicketContent): readonly Fact[] {
  const others = content.affectedServices.filter(service => service !== content.service)
  const named = others.slice(0, MAX_SERVICES).map(oneLine).join(', ')
  return [
    { label: 'Severity', value: SEVERITY_WORDS[content.severity] },
    { label: 'Service', value: oneLine(content.service) },
    ...(others.length === 0
      ? []
      : [{ label: 'Also affected', value: others.length > MAX_SERVICES ? `${named} and ${others.length - MAX_SERVICES} others` : named }]),
    { label: 'First anomaly', value: utcTime(content.firstSeen) },
    { label: 'Last anomaly', value: utcTime(content.lastSeen) },
    { label: 'Anomalies', value: String(content.anomalyCount) },
    { label: 'Tenant', value: content.tenantId },
    { label: 'Incident', value: content.incidentId },
  ]
}

function paragraph(text: string): Block {
  return { kind: 'paragraph', spans: [{ text: oneLine(text) }] }
}
