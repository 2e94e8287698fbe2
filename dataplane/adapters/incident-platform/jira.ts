/** Jira Cloud, REST v3: an issue with the incident's key as a label, which is how it is found again. */
import type { Severity } from '../../contract/platforms.ts'
import type { Target } from '../../domain/tickets/target.ts'
import type { TicketEvent } from '../../domain/tickets/ticket-event.ts'
import type { ExternalTicket, TicketRequest } from '../../ports/incident-platform.ts'
import { basicLogin } from './basic-login.ts'
import { eventReference } from './event-reference.ts'
import {
  type Call,
  type Delivered,
  type HttpContract,
  listOf,
  NotDelivered,
  notOfThisPlatform,
  type Reply,
  rootOf,
  type TargetCalls,
  unlessRefused,
} from './http-platform.ts'
import { at, listAt, textAt } from './json-at.ts'
import { asksAgain, lookPatiently, OPENING, type Patience } from './patient-look.ts'
import { type AdfDocument, toAdf } from './rendering/adf.ts'
import { titleWithin } from './rendering/cut-text.ts'
import { describeChange, describeIncident, FULL, SHORT, SHORTER, SHORTEST } from './rendering/ticket-document.ts'
import { field } from './target-field.ts'
import { changesSeverity, toldSeverity } from './told-severity.ts'

const MAX_SUMMARY = 255
const MAX_DESCRIPTION = 32_767
/** The project where the target names none. */
const USUAL_PROJECT = 'OPS'
const USUAL_TYPE = 'Task'
const DETAILS = [FULL, SHORT, SHORTER, SHORTEST]
/** How long to look for an issue that may have been created, as searches find new issues late: after an answer such as 503, and after no answer. */
const PATIENCE_MS = 18_000
const UNANSWERED_PATIENCE_MS = 60_000
const PATIENCE: Patience = { answeredMs: PATIENCE_MS, unansweredMs: UNANSWERED_PATIENCE_MS, pauseMs: 2_000, maxPauseMs: 8_000 }
const MAX_COMMENTS = 20
/** Fields with which an issue is created. Jira fills in the reporter by itself. */
const SENT_FIELDS: ReadonlySet<string> = new Set(['project', 'issuetype', 'summary', 'description', 'labels', 'priority', 'reporter'])
const MAX_ISSUE_TYPES = 200
const MAX_FIELDS = 200
/** Names in the answer of a connection test. */
const MAX_NAMED = 10

type Category = 'new' | 'indeterminate' | 'done'

const PRIORITY: Readonly<Record<Severity, { readonly setting: string; readonly usual: string }>> = {
  critical: { setting: 'priorityCritical', usual: 'Highest' },
  high: { setting: 'priorityHigh', usual: 'High' },
  medium: { setting: 'priorityMedium', usual: 'Medium' },
  low: { setting: 'priorityLow', usual: 'Low' },
}

interface Move {
  /** Categories to move the issue to: the first one that the workflow reaches. */
  readonly to: readonly Category[]
  /** Whether the issue needs no move; undefined: Jira does not show its status. */
  readonly isThere: (category: Category | undefined) => boolean
  /** Field with the name of the transition that the target prefers. */
  readonly setting: string
}

/** People closed it, and are asked for again: words on a closed issue call nobody. Any other issue stays where it is. */
const REOPENING: Move = { to: ['new', 'indeterminate'], isThere: category => category !== 'done', setting: 'reopenTransition' }

const MOVES: Readonly<Partial<Record<TicketEvent, Move>>> = {
  acknowledge: {
    to: ['indeterminate'],
    isThere: category => category === 'indeterminate' || category === 'done',
    setting: 'acknowledgeTransition',
  },
  resolve: { to: ['done'], isThere: category => category === 'done', setting: 'resolveTransition' },
  reopen: {
    to: ['new', 'indeterminate'],
    isThere: category => category !== undefined && category !== 'done',
    setting: 'reopenTransition',
  },
  escalate: REOPENING,
}

export const jira: HttpContract = {
  name: 'Jira',
  ...basicLogin('userEmail', 'apiToken'),

  async send(request, calls) {
    if (request.ticket !== undefined) return await tellOrReplace(request, request.ticket, calls)
    const found = request.mayBeThere || request.event !== 'open' ? await find(request, calls) : undefined
    if (found !== undefined) return request.event === 'open' ? { ticket: remember(found, request) } : await tell(request, found, calls)
    if (!OPENING.has(request.event)) return { note: `left out: there is no issue to ${request.event}` }
    return await create(request, calls)
  },

  async test(target, calls) {
    const me = await calls.call({ method: 'GET', url: api(target, 'myself'), expects: [200] })
    if (typeof me.json !== 'object' || me.json === null) throw notOfThisPlatform(me, 'an account')
    const name = textAt(me.json, 'displayName') ?? textAt(me.json, 'emailAddress') ?? field(target, 'userEmail')
    const project = field(target, 'projectKey')
    const where =
      project === undefined ? `issues go to project ${USUAL_PROJECT}, as projectKey is not set` : await checkProject(target, project, calls)
    await checkIssueType(target, calls)
    return `Jira knows ${name}; ${where}`
  },
}

/** Says what stands in the way of issues; Jira versions that cannot tell are no failure. */
async function checkProject(target: Target, project: string, calls: TargetCalls): Promise<string> {
  const path = `mypermissions?permissions=CREATE_ISSUES&projectKey=${encodeURIComponent(project)}`
  const reply = await calls.call({ method: 'GET', url: api(target, path), expects: [200], also: [400, 403, 404, 405, 501] })
  const mayCreate = at(reply.json, 'permissions', 'CREATE_ISSUES', 'havePermission')
  // `No project could be found with key 'OPS'.` Any other 404 comes from a Jira version that does not know the endpoint.
  const isUnknown = reply.status === 404 && listAt(reply.json, 'errorMessages').some(text => String(text).includes(`'${project}'`))
  if (mayCreate === false || isUnknown)
    throw new NotDelivered({
      kind: 'rejected',
      reason: `Jira knows the user, who may not create issues in the project ${project}: check projectKey`,
    })
  return mayCreate === true ? `issues go to project ${project}` : `issues go to project ${project}, unchecked`
}

/** Checks that the project has the type of issue, and requires no field that is not sent. Jira versions that cannot tell are no failure. */
async function checkIssueType(target: Target, calls: TargetCalls): Promise<void> {
  const project = field(target, 'projectKey') ?? USUAL_PROJECT
  const wanted = field(target, 'issueType') ?? USUAL_TYPE
  const types = `issue/createmeta/${encodeURIComponent(project)}/issuetypes`
  const ask = async (path: string): Promise<unknown> => {
    try {
      return (await calls.call({ method: 'GET', url: api(target, path), expects: [200] })).json
    } catch (error) {
      if (error instanceof NotDelivered) return undefined
      throw error
    }
  }
  const offered = await ask(`${types}?maxResults=${MAX_ISSUE_TYPES}`)
  const all = [...listAt(offered, 'issueTypes'), ...listAt(offered, 'values')]
  if (all.length === 0) return
  const type = all.find(each => textAt(each, 'name')?.toLowerCase() === wanted.toLowerCase())
  const id = textAt(type, 'id')
  if (type === undefined) {
    const names = all.flatMap(each => textAt(each, 'name') ?? []).slice(0, MAX_NAMED)
    throw new NotDelivered({
      kind: 'rejected',
      reason: `project ${project} has no issue type ${wanted}, but ${names.join(', ')}: set issueType`,
    })
  }
  if (id === undefined) return
  const asked = await ask(`${types}/${encodeURIComponent(id)}?maxResults=${MAX_FIELDS}`)
  const missing = [...listAt(asked, 'fields'), ...listAt(asked, 'values')]
    .filter(each => at(each, 'required') === true && at(each, 'hasDefaultValue') !== true)
    .filter(each => !SENT_FIELDS.has(textAt(each, 'fieldId') ?? textAt(each, 'key') ?? ''))
    .flatMap(each => textAt(each, 'name') ?? textAt(each, 'fieldId') ?? [])
  if (missing.length === 0) return
  throw new NotDelivered({
    kind: 'rejected',
    reason: `project ${project} wants fields of a ${wanted} that are not sent: ${missing.slice(0, MAX_NAMED).join(', ')}; make them optional there, or choose another issueType`,
  })
}

async function create(request: TicketRequest, calls: TargetCalls): Promise<Delivered> {
  const { target, ticketKey } = request
  if (request.content.status === 'resolved')
    return { note: `left out: there is no issue for ${request.event}, and the incident is resolved` }
  const content = { ...request.content, severity: toldSeverity(request) }
  const fields = {
    project: { key: field(target, 'projectKey') ?? USUAL_PROJECT },
    issuetype: { name: field(target, 'issueType') ?? USUAL_TYPE },
    summary: titleWithin(content.title, MAX_SUMMARY),
    description: toAdf(
      DETAILS.map(detail => describeIncident(content, detail)),
      MAX_DESCRIPTION,
    ),
    labels: ['logpipeline', ticketKey],
  }
  const priority = { name: priorityName(target, content.severity) }
  const post = (body: object, also: readonly number[]) =>
    calls.call({ method: 'POST', url: api(target, 'issue'), body: { fields: body }, expects: [201], also })
  const first = await post({ ...fields, priority }, [400])
  const isPriorityRefused = first.status === 400 && at(first.json, 'errors', 'priority') !== undefined
  if (first.status === 400 && !isPriorityRefused) throw new NotDelivered(whatToSet(first))
  const reply = isPriorityRefused ? await post(fields, []) : first
  const key = textAt(reply.json, 'key')
  if (key === undefined) throw createdUnnamed(reply)
  return {
    ticket: remember({ externalId: key, url: issueUrl(target, key) }, request),
    ...(isPriorityRefused && { note: `without a priority: the project takes none named ${priority.name}` }),
  }
}

/** 201 says that there is an issue: it is looked for as long as after no answer at all. */
function createdUnnamed(reply: Reply): NotDelivered {
  const { reason } = notOfThisPlatform(reply, 'the key of the issue').failure
  return new NotDelivered({ kind: 'retryable', reason, isAmbiguous: true, isUnanswered: true, isTargetDown: true })
}

/** A new issue where somebody deleted the old one and people are asked for again. Another attempt may have made the new one already. */
async function tellOrReplace(request: TicketRequest, ticket: ExternalTicket, calls: TargetCalls): Promise<Delivered> {
  try {
    return await tell(request, ticket, calls)
  } catch (error) {
    if (!(error instanceof IssueGone) || !asksAgain(request)) throw error
    const successor = request.mayBeThere ? await find(request, calls) : undefined
    if (successor !== undefined && (successor.externalId !== ticket.externalId || isElsewhere(request, ticket)))
      return { ticket: remember(successor, request) }
    const made = await create(request, calls)
    if (made.ticket === undefined) return made
    const notes = [`${error.message}: a new one takes its place`, made.note].filter(note => note !== undefined)
    return { ...made, note: notes.join('; ') }
  }
}

/** The refusal, with the setting that mends it. */
function whatToSet(reply: Reply) {
  const failure = reply.failure()
  const hint = Object.entries({ project: 'projectKey', issuetype: 'issueType' }).find(
    ([name]) => at(reply.json, 'errors', name) !== undefined,
  )
  return hint === undefined ? failure : { ...failure, reason: `${failure.reason}; set ${hint[1]}` }
}

/** The issue that carries the incident's label. Patient when one may have been created a moment ago. */
async function find(request: TicketRequest, calls: TargetCalls): Promise<ExternalTicket | undefined> {
  const { target, ticketKey } = request
  const jql = `labels = ${quoteJql(ticketKey)} ORDER BY created ASC`
  return await lookPatiently('Jira', request, PATIENCE, async () => {
    const body = { jql, maxResults: 1, fields: ['status', 'labels'] }
    const reply = await calls.call({ method: 'POST', url: api(target, 'search/jql'), body, expects: [200], isRead: true })
    const key = textAt(listOf(reply, 'issues')[0], 'key')
    return key === undefined ? undefined : { externalId: key, url: issueUrl(target, key) }
  })
}

/** Text in quotes, as JQL reads it. */
export function quoteJql(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/** Whether the settings lead to another address than when the issue was made. Keys such as `OPS-1` are in every Jira. */
function isElsewhere({ target }: TicketRequest, { externalId, url }: ExternalTicket): boolean {
  return url !== undefined && url !== issueUrl(target, externalId)
}

/** Makes sure that the issue of that key is the incident's: the same Jira may have another address by now. */
async function checkLabel({ target, ticketKey }: TicketRequest, { externalId, url }: ExternalTicket, calls: TargetCalls): Promise<void> {
  const path = `issue/${encodeURIComponent(externalId)}?fields=labels`
  const issue = await onIssue(externalId, calls.call({ method: 'GET', url: api(target, path), expects: [200], also: [404] }))
  if (listAt(issue.json, 'fields', 'labels').includes(ticketKey)) return
  throw new IssueGone(`the issue is in another Jira, ${url}: ${externalId} of this one is not of the incident`)
}

/** Moves the issue, sets its priority, and says in a comment what happened. */
async function tell(request: TicketRequest, ticket: ExternalTicket, calls: TargetCalls): Promise<Delivered> {
  const { target, event } = request
  const key = ticket.externalId
  if (event === 'open') return { ticket: remember(ticket, request) }
  if (isElsewhere(request, ticket)) await checkLabel(request, ticket, calls)
  const move = MOVES[event] ?? (asksAgain(request) ? REOPENING : undefined)
  const severity = toldSeverity(request)
  const notes = [
    ...(move === undefined ? [] : [await moveIssue(target, key, move, calls)]),
    ...(!changesSeverity(request) ? [] : [await setPriority(target, key, severity, calls)]),
    await comment(request, key, calls),
  ].filter(note => note !== undefined)
  return {
    ticket: remember({ ...ticket, url: issueUrl(target, key) }, request),
    ...(notes.length > 0 && { note: notes.join('; ') }),
  }
}

/** Moves the issue; resolves with the obstacle, if there was one: the comment still tells. */
async function moveIssue(target: Target, key: string, move: Move, calls: TargetCalls): Promise<string | undefined> {
  // A deleted issue has no transitions either: the next call reports it.
  const issue = await calls.call({
    method: 'GET',
    url: api(target, `issue/${encodeURIComponent(key)}?fields=status`),
    expects: [200],
    also: [404],
  })
  const category = textAt(issue.json, 'fields', 'status', 'statusCategory', 'key')
  if (move.isThere(category as Category | undefined)) return undefined
  const url = api(target, `issue/${encodeURIComponent(key)}/transitions`)
  const offered = listOf(await onIssue(key, calls.call({ method: 'GET', url, expects: [200], also: [404] })), 'transitions')
  const named = field(target, move.setting)
  const chosen =
    offered.find(each => named !== undefined && textAt(each, 'name')?.toLowerCase() === named.toLowerCase()) ??
    move.to.map(to => offered.find(each => textAt(each, 'to', 'statusCategory', 'key') === to)).find(each => each !== undefined)
  const id = textAt(chosen, 'id')
  if (id === undefined) return `the workflow has no transition to ${move.to.join(' or ')} from where ${key} is: a comment says it`
  const refused = await unlessRefused(() => change({ method: 'POST', url, body: { transition: { id } }, expects: [204] }, calls))
  return refused === undefined ? undefined : `the transition of ${key} was refused, a comment says it: ${refused}`
}

async function setPriority(target: Target, key: string, severity: Severity, calls: TargetCalls): Promise<string | undefined> {
  const body = { fields: { priority: { name: priorityName(target, severity) } } }
  const refused = await unlessRefused(() =>
    change({ method: 'PUT', url: api(target, `issue/${encodeURIComponent(key)}`), body, expects: [204, 200] }, calls),
  )
  return refused === undefined ? undefined : `the priority stays: ${refused}`
}

/** Changes the issue; Jira refuses one of two changes in the same moment with 409, which is to be tried again. */
async function change(call: Call, calls: TargetCalls): Promise<void> {
  const reply = await calls.call({ ...call, also: [409] })
  if (reply.status === 409) throw new NotDelivered({ kind: 'retryable', reason: reply.failure().reason })
}

/** Resolves with the obstacle where the issue takes no more comments and something else tells the event. */
async function comment(request: TicketRequest, key: string, calls: TargetCalls): Promise<string | undefined> {
  const { target, event, content, mayBeThere } = request
  const url = api(target, `issue/${encodeURIComponent(key)}/comment`)
  const reference = eventReference(request)
  if (mayBeThere) {
    const newest = await onIssue(
      key,
      calls.call({
        ...{ method: 'GET', url: `${url}?orderBy=-created&maxResults=${MAX_COMMENTS}`, isOfNotes: true },
        ...{ expects: [200], also: [404] },
      }),
    )
    if (JSON.stringify(listOf(newest, 'comments')).includes(reference)) return undefined
  }
  const body: AdfDocument = toAdf(
    DETAILS.map(detail => describeChange(event, { ...content, severity: toldSeverity(request) }, detail)),
    MAX_DESCRIPTION,
    reference,
  )
  const also = MOVES[event] === undefined ? [404] : [404, 413]
  const reply = await onIssue(key, calls.call({ method: 'POST', url, body: { body }, expects: [201], also }))
  return reply.status === 413 ? `without a comment: ${reply.failure().reason}` : undefined
}

/** There is no issue of the incident, which says nothing of the target. */
class IssueGone extends NotDelivered {
  constructor(reason: string) {
    super({ kind: 'rejected', reason })
    this.name = 'IssueGone'
  }
}

/** 404 of an issue says that somebody deleted it, not that the target is broken. */
async function onIssue(key: string, call: Promise<Reply>): Promise<Reply> {
  const reply = await call
  if (reply.status === 404) throw new IssueGone(`Jira has no issue ${key} any more, or does not show it to this user`)
  return reply
}

function remember(ticket: ExternalTicket, request: TicketRequest): ExternalTicket {
  return { ...ticket, memory: { ...ticket.memory, severity: toldSeverity(request) } }
}

function priorityName(target: Target, severity: Severity): string {
  const { setting, usual } = PRIORITY[severity]
  return field(target, setting) ?? usual
}

const api = (target: Target, path: string) => `${rootOf(target, 'baseUrl')}/rest/api/3/${path}`
const issueUrl = (target: Target, key: string) => `${rootOf(target, 'baseUrl')}/browse/${key}`
