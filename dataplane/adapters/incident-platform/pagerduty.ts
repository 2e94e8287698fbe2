/** PagerDuty, Events API v2: the incident's key is the `dedup_key`, so that every event may be sent again. */
import { createHash, randomUUID } from 'node:crypto'
import type { Severity } from '../../contract/platforms.ts'
import type { Target } from '../../domain/tickets/target.ts'
import type { TicketContent } from '../../domain/tickets/ticket-content.ts'
import type { TicketEvent } from '../../domain/tickets/ticket-event.ts'
import type { TicketRequest } from '../../ports/incident-platform.ts'
import { type HttpContract, NotDelivered, notOfThisPlatform, type Reply, rootOf, type TargetCalls } from './http-platform.ts'
import { textAt } from './json-at.ts'
import { cutText, oneLine, titleWithin } from './rendering/cut-text.ts'
import {
  type Detail,
  describeChange,
  FULL,
  factsOf,
  reasonsOf,
  SHORT,
  SHORTER,
  SHORTEST,
  sampleLines,
} from './rendering/ticket-document.ts'
import { field } from './target-field.ts'
import { changesSeverity, toldSeverity } from './told-severity.ts'

const ROOT = 'https://events.pagerduty.com'
const MAX_SUMMARY = 1_024
/** Length of an event; PagerDuty's documents say 512 KB. */
const MAX_EVENT_BYTES = 512_000
const MAX_SHORT_FIELD = 255

const SEVERITY: Readonly<Record<Severity, string>> = { critical: 'critical', high: 'error', medium: 'warning', low: 'info' }
/** PagerDuty has three actions. A trigger adds to the alert that is there; where people resolved that, it makes a new one and calls them. */
const ACTION: Readonly<Record<TicketEvent, 'trigger' | 'acknowledge' | 'resolve'>> = {
  open: 'trigger',
  update: 'trigger',
  acknowledge: 'acknowledge',
  resolve: 'resolve',
  escalate: 'trigger',
  reopen: 'trigger',
  comment: 'trigger',
}

export const pagerduty: HttpContract = {
  name: 'PagerDuty',
  headers: () => ({}),

  async send(request, calls) {
    const { target, event, content, ticketKey, ticket } = request
    const action = ACTION[event]
    const opensAnew = action === 'trigger'
    if (opensAnew && content.status === 'resolved')
      return { ...(ticket && { ticket }), note: `left out: PagerDuty would open a new incident for ${event} of a resolved one` }
    if (isWordsAlone(request)) return { ...(ticket && { ticket }), note: WORDS_LEFT_OUT, isLeftOut: true }
    const keyHash = hashOf(field(target, 'routingKey') ?? '')
    const openedWith = ticket?.memory?.['routingKeyHash']
    const isOtherKey = openedWith !== undefined && openedWith !== keyHash
    const severity = toldSeverity(request)
    await enqueue(target, fittingEvent(request, severity), calls)
    const namesCause = opensAnew && (content.cause?.candidates.length ?? 0) > 0
    const cause = namesCause ? content.cause!.mode : ticket?.memory?.['cause']
    const routingKeyHash = opensAnew ? keyHash : (openedWith ?? keyHash)
    return {
      ticket: { externalId: ticketKey, memory: { routingKeyHash, severity, ...(cause !== undefined && { cause }) } },
      ...(isOtherKey && {
        note: opensAnew
          ? 'the routing key changed since the incident was opened: PagerDuty has a second one now'
          : `the routing key changed since the incident was opened, and PagerDuty ignores events that come with another: ${action} it there by hand`,
      }),
    }
  },

  /** PagerDuty drops a resolve for a key that it does not know, and answers 400 when the routing key is wrong. */
  async test(target, calls) {
    await enqueue(target, { event_action: 'resolve', dedup_key: `logpipeline-test-${randomUUID()}` }, calls)
    return 'PagerDuty takes the routing key; no incident was made'
  },
}

const WORDS_LEFT_OUT = 'left out: PagerDuty takes words by a trigger alone, which would open an incident anew that people resolved there'

/**
 * Comments of people, growth that makes the incident no more severe, and another cause than the one that was told come at any time, and call nobody again.
 * The first cause and the first words of a model come soon after the opening, when those who were called look for them.
 */
function isWordsAlone(request: TicketRequest): boolean {
  const { event, content, ticket } = request
  if (ticket === undefined) return false
  if (event !== 'comment') return event === 'update' && !changesSeverity(request)
  const told = ticket.memory?.['cause']
  return content.change !== undefined || told === 'llm' || (told === 'rules' && content.cause?.mode !== 'llm')
}

async function enqueue(target: Target, event: object, calls: TargetCalls): Promise<void> {
  const url = `${rootOf(target, 'apiBaseUrl', ROOT)}/v2/enqueue`
  const reply = await calls.call({
    method: 'POST',
    url,
    body: { routing_key: field(target, 'routingKey'), ...event },
    expects: [202],
    also: [400],
  })
  if (reply.status === 400) throw refused(reply)
  if (textAt(reply.json, 'status') !== 'success') throw notOfThisPlatform(reply, '"status": "success"')
}

function refused(reply: Reply): NotDelivered {
  const failure = reply.failure()
  const blamesKey = /routing[ _]key|service key/i.test(reply.text)
  return new NotDelivered(blamesKey ? { kind: 'rejected', reason: failure.reason, isTargetBroken: true, untilChanged: true } : failure)
}

/** The event with as much detail as PagerDuty takes. */
function fittingEvent(request: TicketRequest, severity: Severity): object {
  const candidates = [FULL, SHORT, SHORTER, SHORTEST].map(detail => eventOf(request, severity, detail))
  return (
    candidates.find(event => Buffer.byteLength(JSON.stringify(event)) <= MAX_EVENT_BYTES - MAX_SHORT_FIELD) ??
    withoutDetails(candidates.at(-1)!)
  )
}

function withoutDetails(event: ReturnType<typeof eventOf>): object {
  return event.payload === undefined
    ? event
    : { ...event, payload: { ...event.payload, custom_details: { note: 'too long for PagerDuty' } } }
}

function eventOf(request: TicketRequest, severity: Severity, detail: Detail) {
  const { event, content, ticketKey } = request
  const action = ACTION[event]
  const base = { event_action: action, dedup_key: ticketKey }
  if (action !== 'trigger') return { ...base, payload: undefined }
  return {
    ...base,
    client: 'logpipeline',
    ...(content.link !== undefined && { client_url: content.link, links: [{ href: content.link, text: 'Open the incident' }] }),
    payload: {
      summary: titleWithin(content.title, MAX_SUMMARY),
      source: cutText(oneLine(content.service), MAX_SHORT_FIELD) || 'unknown_service',
      severity: SEVERITY[severity],
      timestamp: content.change?.at ?? content.lastSeen,
      component: cutText(oneLine(content.service), MAX_SHORT_FIELD),
      group: content.tenantId,
      class: 'log anomaly',
      custom_details: { ...changeOf(request), ...detailsOf(content, detail) },
    },
  }
}

/** PagerDuty shows a table of names and values, in this order. */
function detailsOf(content: TicketContent, detail: Detail): Readonly<Record<string, unknown>> {
  const reasons = content.cause === undefined ? [] : reasonsOf(content.cause, detail.candidates, detail.reasons)
  return {
    'What happened': oneLine(content.sentence),
    'Next step': oneLine(content.nextAction),
    ...(content.cause && { 'Likely cause': oneLine(content.cause.summary) }),
    ...(reasons.length > 0 && { Reasons: reasons.map(({ service, text }) => `${service}: ${text}`) }),
    ...(content.evidence.length > 0 && {
      Evidence: content.evidence
        .slice(0, detail.patterns)
        .flatMap(({ pattern, count, samples }) => [
          `${count === 1 ? 'Once' : `${count} times`}: ${cutText(oneLine(pattern), detail.lineLength)}`,
          ...samples.slice(0, detail.samples).flatMap(sample => sampleLines(sample, detail.lineLength).map(line => `    ${line}`)),
        ]),
    }),
    ...Object.fromEntries(factsOf(content).map(({ label, value }) => [label, value])),
  }
}

function changeOf({ event, content }: TicketRequest): Readonly<Record<string, unknown>> {
  if (event === 'open') return {}
  const { lead } = describeChange(event, content)
  const news = content.news.map(oneLine)
  const note = content.change?.note
  return {
    Change: lead.map(({ text }) => text).join(''),
    ...(note !== undefined && { Note: oneLine(note) }),
    // One alone stands in the change already.
    ...(news.length > 1 && { News: news }),
  }
}

/** Equal for equal keys; the key cannot be found from it. */
function hashOf(routingKey: string): string {
  return createHash('sha256').update(routingKey).digest('hex').slice(0, 16)
}
