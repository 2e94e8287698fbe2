/** A ticket as a mail. All mails of an incident to one target are one thread, in readers that go by `References` and in those that go by the subject. */
import { createHash } from 'node:crypto'
import { asksForHelp } from '../../../domain/tickets/escalation.ts'
import type { Target } from '../../../domain/tickets/target.ts'
import type { ExternalTicket, TicketRequest } from '../../../ports/incident-platform.ts'
import { oneLine, titleOf, titleWithin } from '../rendering/cut-text.ts'
import { toHtml } from '../rendering/html.ts'
import { toPlainText } from '../rendering/plain-text.ts'
import { describeEvent, FULL, SEVERITY_WORDS, SHORT, SHORTER, SHORTEST } from '../rendering/ticket-document.ts'
import { field, listField } from '../target-field.ts'
import { toldSeverity } from '../told-severity.ts'

/** Behind the severity: a subject has 200 characters. */
const MAX_TITLE_IN_SUBJECT = 189
const MAX_TEXT = 100_000
const DETAILS = [FULL, SHORT, SHORTER, SHORTEST]

export interface Mail {
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly messageId: string
  readonly inReplyTo?: string
  readonly references?: string
  readonly priority: 'high' | 'normal'
  readonly headers: Readonly<Record<string, string>>
}

export function mailOf(request: TicketRequest): Mail {
  const { target, event, content, ticket, only } = request
  const isEscalation = asksForHelp(event, content.change)
  const all = recipientsOf(target, isEscalation)
  const severity = toldSeverity(request)
  const told = { ...content, severity }
  const root = threadOf(request)
  const isFirst = ticket === undefined || ticket.memory?.['first'] === markOf(request)
  const documents = DETAILS.map(detail => describeEvent(event, isFirst, told, detail))
  const title = titleOf(content.title)
  return {
    from: oneLine(field(target, 'from') ?? ''),
    to: only === undefined ? all : all.filter(recipient => only.some(address => isAddressOf(address, recipient))),
    subject: `${isFirst ? '' : 'Re: '}${subjectOf(request)}`,
    text: `${title}\n\n${toPlainText(documents, { max: MAX_TEXT })}\n\n-- \n${footerOf(told.incidentId)}\n`,
    html: toHtml({
      title,
      mood: event === 'resolve' ? 'resolved' : severity,
      document: documents[0]!,
      footer: footerOf(told.incidentId),
    }),
    messageId: isFirst ? root : messageIdOf(request),
    ...(!isFirst && { inReplyTo: root, references: root }),
    priority: isEscalation || (event === 'open' && (severity === 'critical' || severity === 'high')) ? 'high' : 'normal',
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  }
}

/** The ticket that later mails answer to. */
export function threadTicket(request: TicketRequest): ExternalTicket {
  const first = request.ticket === undefined ? { first: markOf(request) } : {}
  return { externalId: threadOf(request), memory: { severity: toldSeverity(request), subject: subjectOf(request), ...first } }
}

/** The subject stays that of the first mail: readers that go by it would begin another thread. */
function subjectOf(request: TicketRequest): string {
  const known = request.ticket?.memory?.['subject']
  return known ?? `[${SEVERITY_WORDS[toldSeverity(request)].toUpperCase()}] ${titleWithin(request.content.title, MAX_TITLE_IN_SUBJECT)}`
}

/** An escalation also goes to those named for it. */
function recipientsOf(target: Target, isEscalation: boolean): readonly string[] {
  const lists = isEscalation ? [...listField(target, 'escalationTo'), ...listField(target, 'to')] : listField(target, 'to')
  return [...new Set(lists.map(oneLine))]
}

function threadOf({ ticket, ticketKey, target }: TicketRequest): string {
  return ticket?.externalId ?? `<${ticketKey}@${domainOf(target)}>`
}

/** Whether a recipient such as `Ada <ada@example.com>` has that address. */
export function isAddressOf(address: string, recipient: string): boolean {
  return normalised(address) === normalised(/<([^<>]*)>\s*$/.exec(recipient)?.[1] ?? recipient)
}

/** The address as servers are told it: names of domains in ASCII. */
function normalised(address: string): string {
  const [, local = address, domain = ''] = /^(.*)@([^@]*)$/.exec(address.trim()) ?? []
  return `${local.toLowerCase()}@${URL.parse(`http://${domain}`)?.hostname ?? domain}`
}

/** An id that is the same for every attempt: readers that compare show a mail that arrives twice as one. */
function messageIdOf(request: TicketRequest): string {
  return `<${request.ticketKey}.${markOf(request)}@${domainOf(request.target)}>`
}

/** A short text that stands for an event. */
function markOf({ eventKey }: Pick<TicketRequest, 'eventKey'>): string {
  return createHash('sha256').update(eventKey).digest('hex').slice(0, 16)
}

function domainOf(target: Target): string {
  return /@([a-z0-9.-]+)/i.exec(field(target, 'from') ?? '')?.[1]?.toLowerCase() ?? 'logpipeline.invalid'
}

function footerOf(incidentId: string): string {
  return `Sent by logpipeline for incident ${incidentId}.`
}
