/** ServiceNow, Table API: a record of the table `incident`, found again by its `correlation_id`. */
import { createHash } from 'node:crypto'
import type { Severity } from '../../contract/platforms.ts'
import type { Target } from '../../domain/tickets/target.ts'
import type { TicketEvent } from '../../domain/tickets/ticket-event.ts'
import type { ExternalTicket, TicketRequest } from '../../ports/incident-platform.ts'
import { basicLogin } from './basic-login.ts'
import { eventReference } from './event-reference.ts'
import { type Delivered, type HttpContract, listOf, NotDelivered, notOfThisPlatform, rootOf, type TargetCalls } from './http-platform.ts'
import { listAt, textAt } from './json-at.ts'
import { asksAgain, lookPatiently, OPENING, type Patience } from './patient-look.ts'
import { cleanText, cutText, oneLine, titleWithin } from './rendering/cut-text.ts'
import { toPlainText } from './rendering/plain-text.ts'
import { describeChange, describeIncident, FULL, SHORT, SHORTER, SHORTEST } from './rendering/ticket-document.ts'
import { field } from './target-field.ts'
import { changesSeverity, toldSeverity } from './told-severity.ts'

const MAX_SHORT_DESCRIPTION = 160
const MAX_DESCRIPTION = 4_000
const MAX_WORK_NOTE = 4_000
const MAX_CORRELATION_ID = 100
/** Newer instances have it; older ones say `Solved (Permanently)`. */
const USUAL_CLOSE_CODE = 'Solution provided'
const DETAILS = [FULL, SHORT, SHORTER, SHORTEST]
const IN_PROGRESS = '2'
const RESOLVED = '6'
/** How long to look for a record after a create without any answer. After an answer such as 503 one look is enough. */
const UNANSWERED_PATIENCE_MS = 10_000
const PATIENCE: Patience = { answeredMs: 0, unansweredMs: UNANSWERED_PATIENCE_MS, pauseMs: 2_500, maxPauseMs: 2_500 }
/** Records of one incident: each that was closed before it was opened again left one. */
const MAX_RECORDS = 10
/** Closed and cancelled: nothing changes such a record any more. */
const FINAL_STATES: ReadonlySet<string | undefined> = new Set(['7', '8'])

/** The instance makes the priority of impact and urgency. */
const URGENCY: Readonly<Record<Severity, { readonly impact: string; readonly urgency: string }>> = {
  critical: { impact: '1', urgency: '1' },
  high: { impact: '1', urgency: '2' },
  medium: { impact: '2', urgency: '2' },
  low: { impact: '3', urgency: '3' },
}
const STATES: Readonly<Partial<Record<TicketEvent, string>>> = { acknowledge: IN_PROGRESS, resolve: RESOLVED, reopen: IN_PROGRESS }

export const servicenow: HttpContract = {
  name: 'ServiceNow',
  ...basicLogin('username', 'password'),

  async send(request, calls) {
    const { event, mayBeThere } = request
    const sysId = request.ticket?.memory?.['sysId']
    const known = sysId === undefined ? undefined : { ...request.ticket!, sysId }
    const record = known ?? (mayBeThere || event !== 'open' ? await find(request, calls) : undefined)
    if (record !== undefined && event === 'open') return { ticket: ticketOf(request, record.sysId, record.externalId) }
    if (record !== undefined) return await change(request, record, calls)
    if (!OPENING.has(event)) return { note: `left out: there is no record to ${event}` }
    return await create(request, calls)
  },

  async test(target, calls) {
    const reply = await calls.call({ method: 'GET', url: `${table(target)}?sysparm_limit=1&sysparm_fields=sys_id`, expects: [200] })
    listOf(reply, 'result')
    return `ServiceNow answers and shows its incidents; ${await checkCloseCode(target, calls)}`
  },
}

/** An instance that does not show its choices is no failure. */
async function checkCloseCode(target: Target, calls: TargetCalls): Promise<string> {
  const code = field(target, 'closeCode') ?? USUAL_CLOSE_CODE
  const query = encodeURIComponent('name=incident^element=close_code^inactive=false')
  const url = `${rootOf(target, 'instanceUrl')}/api/now/table/sys_choice?sysparm_query=${query}&sysparm_fields=value&sysparm_limit=100`
  const reply = await calls.call({ method: 'GET', url, expects: [200], also: [400, 401, 403, 404] })
  const choices = listAt(reply.json, 'result').flatMap(choice => textAt(choice, 'value') ?? [])
  if (reply.status !== 200 || choices.length === 0) return `the close code is “${code}”, unchecked`
  if (choices.includes(code)) return `the close code is “${code}”`
  const reason = `ServiceNow answers, and its incidents have no close code “${code}”: set closeCode to one of ${choices.slice(0, 20).join(', ')}`
  throw new NotDelivered({ kind: 'rejected', reason })
}

interface KnownRecord extends ExternalTicket {
  readonly sysId: string
}

/** The record that is not closed. Patient when one may just be made: an instance goes on with a request whose sender is gone. */
async function find(request: TicketRequest, calls: TargetCalls): Promise<KnownRecord | undefined> {
  const { target, ticketKey } = request
  const query = encodeURIComponent(`correlation_id=${correlationId(ticketKey)}^active=true`)
  const url = `${table(target)}?sysparm_query=${query}&sysparm_fields=sys_id,number,state&sysparm_limit=1&sysparm_exclude_reference_link=true`
  return await lookPatiently('ServiceNow', request, PATIENCE, async () => {
    const reply = await calls.call({ method: 'GET', url, expects: [200] })
    const [found] = listOf(reply, 'result')
    const sysId = textAt(found, 'sys_id')
    return sysId === undefined ? undefined : { sysId, externalId: textAt(found, 'number') ?? sysId }
  })
}

/** `whyAgain`: nothing can be changed in the record that the incident had before. */
async function create(request: TicketRequest, calls: TargetCalls, whyAgain?: string): Promise<Delivered> {
  const { target, ticketKey } = request
  if (request.content.status === 'resolved')
    return { note: `left out: there is no open record for ${request.event}, and the incident is resolved` }
  const severity = toldSeverity(request)
  const content = { ...request.content, severity }
  const body = {
    short_description: titleWithin(escapeJournal(oneLine(content.title)), MAX_SHORT_DESCRIPTION),
    description: toPlainText(
      DETAILS.map(detail => describeIncident(content, detail)),
      { max: MAX_DESCRIPTION, neutralise: escapeJournal },
    ),
    ...URGENCY[severity],
    correlation_id: correlationId(ticketKey),
    correlation_display: 'logpipeline',
    ...optional('assignment_group', field(target, 'assignmentGroup')),
    ...optional('category', field(target, 'category')),
    ...optional('caller_id', field(target, 'callerId')),
    ...(whyAgain !== undefined && { work_notes: `Opened again; ${whyAgain}. ${eventReference(request)}` }),
  }
  const reply = await calls.call({ method: 'POST', url: table(target), body, expects: [201] })
  const sysId = textAt(reply.json, 'result', 'sys_id')
  if (sysId === undefined) throw notOfThisPlatform(reply, 'result.sys_id')
  return {
    ticket: ticketOf(request, sysId, textAt(reply.json, 'result', 'number') ?? sysId),
    ...(whyAgain !== undefined && { note: `${whyAgain}: a new one takes its place` }),
  }
}

async function change(request: TicketRequest, record: KnownRecord, calls: TargetCalls): Promise<Delivered> {
  const { target, event, mayBeThere } = request
  const url = `${table(target)}/${encodeURIComponent(record.sysId)}`
  const isKnownTicket = { ticket: ticketOf(request, record.sysId, record.externalId) }
  const current = await look(request, record, calls)
  if (mayBeThere && current.text.includes(eventReference(request))) return isKnownTicket
  const { state } = current
  if (FINAL_STATES.has(state)) {
    if (asksAgain(request)) return await replace(request, `${record.externalId} is closed`, calls)
    return { ...isKnownTicket, note: `${record.externalId} is closed: ServiceNow changes nothing in it any more` }
  }
  const severity = toldSeverity(request)
  const note = toPlainText(
    DETAILS.map(detail => describeChange(event, { ...request.content, severity }, detail)),
    { max: MAX_WORK_NOTE, neutralise: escapeJournal },
  )
  const newState = stateAfter(request, state)
  const body = {
    ...optional('state', newState),
    ...(event === 'resolve' && { close_code: field(target, 'closeCode') ?? USUAL_CLOSE_CODE, close_notes: closeNotes(request) }),
    ...(changesSeverity(request) && URGENCY[severity]),
    work_notes: `${note}\n\n${eventReference(request)}`,
  }
  const reply = await calls.call({ method: 'PATCH', url, body, expects: [200], also: [404] })
  if (reply.status === 404) {
    const reason = `ServiceNow has no record ${record.externalId} any more, or does not show it to this user`
    if (!asksAgain(request)) throw new NotDelivered({ kind: 'rejected', reason })
    return await replace(request, reason, calls)
  }
  if (textAt(reply.json, 'result', 'sys_id') === undefined) throw notOfThisPlatform(reply, 'result.sys_id')
  return isKnownTicket
}

/** The state to set. Words on a resolved record call nobody: what asks for people opens it again. */
function stateAfter(request: TicketRequest, state: string | undefined): string | undefined {
  const { event } = request
  if (state !== RESOLVED) return STATES[event]
  if (event === 'acknowledge') return undefined
  return asksAgain(request) ? IN_PROGRESS : STATES[event]
}

/**
 * A record's state decides what may be done, its notes whether it was done. Asked as `find` asks, so that an account needs one right to read. Without a
 * state where the list does not show the record: the change itself tells whether it is gone.
 */
async function look({ target, ticketKey, mayBeThere }: TicketRequest, { sysId }: KnownRecord, calls: TargetCalls) {
  const query = encodeURIComponent(`correlation_id=${correlationId(ticketKey)}`)
  const fields = `sys_id,number,state${mayBeThere ? ',work_notes&sysparm_display_value=all' : ''}`
  const url = `${table(target)}?sysparm_query=${query}&sysparm_fields=${fields}&sysparm_limit=${MAX_RECORDS}&sysparm_exclude_reference_link=true`
  const reply = await calls.call({ method: 'GET', url, expects: [200], isOfNotes: mayBeThere })
  const shown = listOf(reply, 'result').find(each => valueAt(each, 'sys_id') === sysId)
  return { text: reply.text, state: valueAt(shown, 'state') }
}

/** With `sysparm_display_value=all` each field is an object. */
function valueAt(record: unknown, name: string): string | undefined {
  return textAt(record, name) ?? textAt(record, name, 'value')
}

/** A closed record stays closed, and a deleted one deleted. Another attempt may have made the new one already. */
async function replace(request: TicketRequest, why: string, calls: TargetCalls): Promise<Delivered> {
  const successor = request.mayBeThere ? await find(request, calls) : undefined
  if (successor !== undefined) return { ticket: ticketOf(request, successor.sysId, successor.externalId) }
  return await create(request, calls, why)
}

function closeNotes({ content }: TicketRequest): string {
  const note = content.change?.note
  return cutText(
    escapeJournal(note === undefined || note.trim() === '' ? 'Resolved in logpipeline.' : cleanText(note).trim()),
    MAX_WORK_NOTE,
  )
}

function ticketOf(request: TicketRequest, sysId: string, number: string): ExternalTicket {
  const page = encodeURIComponent(`incident.do?sys_id=${sysId}`)
  const url = `${rootOf(request.target, 'instanceUrl')}/nav_to.do?uri=${page}`
  return { externalId: number, url, memory: { sysId, severity: toldSeverity(request) } }
}

/** The field takes 100 characters. */
function correlationId(ticketKey: string): string {
  if (ticketKey.length <= MAX_CORRELATION_ID) return ticketKey
  return createHash('sha256').update(ticketKey).digest('hex')
}

/** `[code]` in a journal or description is HTML to ServiceNow. */
function escapeJournal(text: string): string {
  return text.replaceAll(/\[(\/?)(code)\]/gi, '($1$2)')
}

function optional(name: string, value: string | undefined): Readonly<Record<string, string>> {
  return value === undefined ? {} : { [name]: value }
}

const table = (target: Target) => `${rootOf(target, 'instanceUrl')}/api/now/table/incident`
