/** Opsgenie, Alert API v2 (and Jira Service Management, which has the same): the incident's key is the alias. All changes are taken first and made later. */
import type { Severity } from '../../contract/platforms.ts'
import { asksForHelp } from '../../domain/tickets/escalation.ts'
import type { Target } from '../../domain/tickets/target.ts'
import type { ExternalTicket, TicketRequest } from '../../ports/incident-platform.ts'
import { eventReference } from './event-reference.ts'
import {
  type Delivered,
  type HttpContract,
  listOf,
  NotDelivered,
  notOfThisPlatform,
  rootOf,
  type TargetCalls,
  unlessRefused,
} from './http-platform.ts'
import { at, textAt } from './json-at.ts'
import { codePoints, cutText, oneLine, titleWithin } from './rendering/cut-text.ts'
import { toPlainText } from './rendering/plain-text.ts'
import { describeChange, describeIncident, type Fact, FULL, factsOf, SHORT, SHORTER, SHORTEST } from './rendering/ticket-document.ts'
import { field, listField } from './target-field.ts'
import { changesSeverity, toldSeverity } from './told-severity.ts'

const ROOT = 'https://api.opsgenie.com'
const MAX_MESSAGE = 130
const MAX_DESCRIPTION = 15_000
const MAX_NOTE = 25_000
/** The newest notes, among which one is looked for that may be there. */
const MAX_NOTES = 20
const MAX_TAGS = 20
const MAX_TAG = 50
const MAX_DETAILS = 8_000
const MAX_ENTITY = 512
const MAX_USER = 100
const DETAILS = [FULL, SHORT, SHORTER, SHORTEST]
/** Before each look at what became of a request. */
const LOOKS_AFTER_MS = [300, 700, 1_500, 3_000] as const

const PRIORITY: Readonly<Record<Severity, string>> = { critical: 'P1', high: 'P2', medium: 'P3', low: 'P4' }

/** The fate of a request that Opsgenie took. */
type Fate =
  | { readonly kind: 'done'; readonly alertId?: string }
  | { readonly kind: 'failed'; readonly status: string }
  | { readonly kind: 'unknown' }

export const opsgenie: HttpContract = {
  name: 'Opsgenie',
  headers: target => ({ authorization: `GenieKey ${field(target, 'apiKey') ?? ''}` }),
  send: async (request, calls) => await HANDLERS[request.event](request, calls),
  async test(target, calls) {
    const reply = await calls.call({ method: 'GET', url: `${api(target)}?limit=1`, expects: [200] })
    listOf(reply, 'data')
    return 'Opsgenie takes the key and shows its alerts'
  },
}

const HANDLERS: Readonly<Record<TicketRequest['event'], (request: TicketRequest, calls: TargetCalls) => Promise<Delivered>>> = {
  open: createCalling,
  reopen: create,
  update: tellOrCreate,
  escalate: tellOrCreate,
  comment: async (request, calls) => ({ ...known(request), ...toldOf(await addNote(request, calls)) }),
  acknowledge: async (request, calls) => await close(request, 'acknowledge', calls),
  resolve: async (request, calls) => await close(request, 'close', calls),
}

/** The alert of an escalation goes to the configured one. */
async function createCalling(request: TicketRequest, calls: TargetCalls): Promise<Delivered> {
  const made = await create(request, calls)
  const isEscalation = request.content.status !== 'resolved' && asksForHelp(request.event, request.content.change)
  const notes = [made.note, isEscalation ? await escalate(request, calls) : undefined].filter(note => note !== undefined)
  return { ...made, ...(notes.length > 0 && { note: notes.join('; ') }) }
}

/** An open alert of the same alias counts up: the same request again makes no second one. A closed one does not: then a new alert would call people. */
async function create(request: TicketRequest, calls: TargetCalls): Promise<Delivered> {
  const { target, event, ticketKey } = request
  if (request.content.status === 'resolved')
    return { ...known(request), note: `left out: Opsgenie might make a new alert for ${event} of a resolved incident` }
  const severity = toldSeverity(request)
  const content = { ...request.content, severity }
  const tags = ['logpipeline', severity, content.service, ...content.affectedServices].map(tag =>
    cutText(oneLine(tag).replaceAll(',', ' '), MAX_TAG),
  )
  const responders = respondersOf(target)
  const body = {
    message: titleWithin(content.title, MAX_MESSAGE),
    alias: ticketKey,
    description: toPlainText(
      DETAILS.map(detail => describeIncident(content, detail)),
      { max: MAX_DESCRIPTION },
    ),
    priority: PRIORITY[severity],
    entity: cutText(oneLine(content.service), MAX_ENTITY),
    source: 'logpipeline',
    tags: [...new Set(tags)].filter(tag => tag !== '').slice(0, MAX_TAGS),
    details: detailsOf([...factsOf(content), ...(content.link === undefined ? [] : [{ label: 'Link', value: content.link }])]),
    ...(responders.length > 0 && { responders }),
    ...(event !== 'open' && { note: noteOf(request) }),
  }
  const fate = await change({ method: 'POST', url: api(target), body }, target, calls)
  // Nothing says that the next attempt fails as well, and nothing may be lost.
  if (fate.kind === 'failed')
    throw new NotDelivered({ kind: 'retryable', reason: `Opsgenie took the alert and did not make it: ${fate.status}` })
  return { ticket: ticketOf(request, fate), ...unconfirmed(fate) }
}

async function tellOrCreate(request: TicketRequest, calls: TargetCalls): Promise<Delivered> {
  const { target, event, ticket, ticketKey } = request
  if (ticket === undefined) return await createCalling(request, calls)
  const severity = toldSeverity(request)
  const body = { priority: PRIORITY[severity] }
  const fate = changesSeverity(request)
    ? await change({ method: 'PUT', url: `${api(target, ticketKey)}/priority?identifierType=alias`, body }, target, calls)
    : undefined
  // Somebody closed the alert in Opsgenie: the news makes a new one.
  if (fate?.kind === 'failed') return await createCalling(request, calls)
  const noted = await addNote(request, calls)
  if (noted?.kind === 'failed') return await createCalling(request, calls)
  const escalation = event === 'escalate' ? await escalate(request, calls) : undefined
  const notes = [toldOf(noted).note, escalation].filter(note => note !== undefined)
  return { ticket: ticketOf(request, fate), ...(notes.length > 0 && { note: notes.join('; ') }) }
}

/** Only a configured escalation can be named; what Opsgenie says against it does not undo the rest. */
async function escalate({ target, ticketKey }: TicketRequest, calls: TargetCalls): Promise<string | undefined> {
  const name = field(target, 'escalation')
  if (name === undefined) return undefined
  const body = { escalation: { name }, source: 'logpipeline' }
  const refused = await unlessRefused(() =>
    calls.call({ method: 'POST', url: `${api(target, ticketKey)}/escalate?identifierType=alias`, body, expects: [202] }),
  )
  return refused === undefined ? undefined : `not escalated to ${name}: ${refused}`
}

async function close(request: TicketRequest, action: 'acknowledge' | 'close', calls: TargetCalls): Promise<Delivered> {
  const { target, ticketKey, content } = request
  if (await isNoted(request, calls)) return known(request)
  const user = content.change?.actor
  const body = {
    source: 'logpipeline',
    ...(user !== undefined && { user: cutText(oneLine(user), MAX_USER) }),
    note: noteOf(request),
  }
  const fate = await change({ method: 'POST', url: `${api(target, ticketKey)}/${action}?identifierType=alias`, body }, target, calls)
  if (fate.kind === 'failed') return { ...known(request), note: `Opsgenie has nothing to ${action}: ${fate.status}` }
  return { ticket: ticketOf(request, fate), ...unconfirmed(fate) }
}

/** Undefined when an earlier attempt wrote it. */
async function addNote(request: TicketRequest, calls: TargetCalls): Promise<Fate | undefined> {
  const { target, ticketKey } = request
  if (await isNoted(request, calls)) return undefined
  const url = `${api(target, ticketKey)}/notes?identifierType=alias`
  return await change({ method: 'POST', url, body: { source: 'logpipeline', note: noteOf(request) } }, target, calls)
}

function toldOf(noted: Fate | undefined): { readonly note?: string } {
  if (noted === undefined) return {}
  return noted.kind === 'failed' ? { note: `Opsgenie has no open alert for the note: ${noted.status}` } : unconfirmed(noted)
}

/** Whether an earlier attempt wrote the note of the event, as far as Opsgenie got with it by now. */
async function isNoted(request: TicketRequest, calls: TargetCalls): Promise<boolean> {
  const { target, ticketKey, mayBeThere } = request
  if (!mayBeThere) return false
  await calls.wait(LOOKS_AFTER_MS[0])
  const url = `${api(target, ticketKey)}/notes?identifierType=alias&limit=${MAX_NOTES}&order=desc`
  const newest = await calls.call({ method: 'GET', url, expects: [200], also: [404], isOfNotes: true })
  return newest.status === 200 && JSON.stringify(listOf(newest, 'data')).includes(eventReference(request))
}

/** Sends a change and looks a few times what became of it. */
async function change(
  call: { readonly method: 'POST' | 'PUT'; readonly url: string; readonly body: object },
  target: Target,
  calls: TargetCalls,
): Promise<Fate> {
  const reply = await calls.call({ ...call, expects: [202] })
  const requestId = textAt(reply.json, 'requestId')
  if (requestId === undefined) throw notOfThisPlatform(reply, 'requestId')
  const url = `${api(target)}/requests/${encodeURIComponent(requestId)}`
  for (const waitMs of LOOKS_AFTER_MS) {
    await calls.wait(waitMs)
    const look = await lookAt(url, calls)
    const isSuccess = at(look, 'data', 'isSuccess') ?? at(look, 'data', 'success')
    const alertId = textAt(look, 'data', 'alertId')
    if (isSuccess === true) return { kind: 'done', ...(alertId !== undefined && { alertId }) }
    if (isSuccess === false) return { kind: 'failed', status: textAt(look, 'data', 'status') ?? 'it does not say why' }
  }
  return { kind: 'unknown' }
}

/** 404 while it is not worked on. Whatever else fails a look leaves the change as taken: told as refused, it would be made again by a retry. */
async function lookAt(url: string, calls: TargetCalls): Promise<unknown> {
  try {
    return (await calls.call({ method: 'GET', url, expects: [200], also: [404] })).json
  } catch (error) {
    if (error instanceof NotDelivered) return undefined
    throw error
  }
}

function unconfirmed(fate: Fate): { readonly note?: string } {
  return fate.kind === 'unknown' ? { note: 'accepted, unconfirmed: Opsgenie did not say in time whether it was carried out' } : {}
}

function noteOf(request: TicketRequest): string {
  const severity = toldSeverity(request)
  const reference = eventReference(request)
  const text = toPlainText(
    DETAILS.map(detail => describeChange(request.event, { ...request.content, severity }, detail)),
    { max: MAX_NOTE - reference.length - 2 },
  )
  return `${text}\n\n${reference}`
}

/** As many facts as there is room for. */
function detailsOf(facts: readonly Fact[]): Readonly<Record<string, string>> {
  const details: Record<string, string> = {}
  let room = MAX_DETAILS
  for (const { label, value } of facts) {
    const told = cutText(value, MAX_DETAILS / 4)
    room -= codePoints(label) + codePoints(told)
    if (room >= 0) details[label] = told
  }
  return details
}

/** `team:payments` or `user:alice@example.com`; without a kind it is a team. */
function respondersOf(target: Target) {
  return listField(target, 'responders').map(text => {
    const [, kind = 'team', name = text] = /^(team|user|escalation|schedule):(.+)$/.exec(text) ?? []
    return { type: kind, [kind === 'user' ? 'username' : 'name']: name.trim() }
  })
}

function known({ ticket }: TicketRequest): { readonly ticket?: ExternalTicket } {
  return ticket === undefined ? {} : { ticket }
}

function ticketOf(request: TicketRequest, fate: Fate | undefined): ExternalTicket {
  const url = fate?.kind === 'done' && fate.alertId !== undefined ? pageOf(request.target, fate.alertId) : undefined
  const address = url ?? request.ticket?.url
  return { externalId: request.ticketKey, ...(address !== undefined && { url: address }), memory: { severity: toldSeverity(request) } }
}

/** Opsgenie's own console; the address of another API does not tell where its console is. */
function pageOf(target: Target, alertId: string): string | undefined {
  const console = /^https:\/\/api\.((eu\.)?opsgenie\.com)$/.exec(rootOf(target, 'apiBaseUrl', ROOT))?.[1]
  return console === undefined ? undefined : `https://app.${console}/alert/detail/${encodeURIComponent(alertId)}/details`
}

const api = (target: Target, alias?: string) =>
  `${rootOf(target, 'apiBaseUrl', ROOT)}/v2/alerts${alias === undefined ? '' : `/${encodeURIComponent(alias)}`}`
