/** Jira Cloud REST v3, as far as tickets need it: create, search that lags behind, transitions, comments, edits. */
import { basicAuthorization } from '../../http/basic-authorization.ts'
import type { Clock } from '../../ports/clock.ts'
import { type AdfNode, adfProblem, adfText } from './adf.ts'
import { type Issue, statusOf } from './jira-issue.ts'
import { showIssues } from './jira-page.ts'
import { ISSUE_TYPES, PRIORITIES, PROJECTS, type Project, type Status, type Transition } from './jira-projects.ts'
import { parseJql } from './jql.ts'
import { append, createNewest } from './newest.ts'
import { DEMO } from './settings.ts'
import type { StubAnswer, StubPlatform, StubRequest, StubRoute } from './stub-platform.ts'

const MAX_SUMMARY = 255
const MAX_TEXT = 32_767
const USUAL_FIELDS = ['project', 'issuetype', 'summary', 'description', 'labels', 'priority']
const MAX_RECONCILED = 50
/** How long a new issue or status is not found by a search. */
const SEARCH_LAG_MS = 2_000

type Fields = Readonly<Record<string, unknown>>
type Errors = Record<string, string>

export function createJira(clock: Clock): StubPlatform {
  const issues = createNewest<Issue>()
  const counts = new Map<string, number>()
  let ids = 10_000
  let searchLagMs = SEARCH_LAG_MS
  let missing = { category: '', times: 0 }

  const nowIso = () => new Date(clock.nowMs()).toISOString()
  const find = (idOrKey: string) => issues.get(idOrKey.toUpperCase()) ?? issues.all().find(({ id }) => id === idOrKey)

  /** Answers for the issue that the path names; 404 without one. */
  const onIssue =
    (handle: (issue: Issue, request: StubRequest) => StubAnswer) =>
    (request: StubRequest): StubAnswer => {
      const issue = find(request.params['key']!)
      return issue === undefined ? errors(404, 'Issue does not exist or you do not have permission to see it.') : handle(issue, request)
    }

  const create = ({ json, origin }: StubRequest): StubAnswer => {
    const fields = fieldsOf(json)
    const problems = { ...createProblems(fields), ...fieldProblems(fields) }
    if (Object.keys(problems).length > 0) return errors(400, undefined, problems)
    const project = projectOf(fields)!
    const number = (counts.get(project.key) ?? 0) + 1
    counts.set(project.key, number)
    const issue: Issue = {
      id: String(++ids),
      key: `${project.key}-${number}`,
      project: project.key,
      issueType: nameOf(fields['issuetype'])!,
      created: nowIso(),
      summary: '',
      description: undefined,
      labels: [],
      priority: 'Medium',
      comments: [],
      statuses: [{ atMs: clock.nowMs(), status: project.statuses[0]! }],
    }
    edit(issue, fields)
    issues.put(issue.key, issue)
    return { status: 201, body: { id: issue.id, key: issue.key, self: `${origin}/rest/api/3/issue/${issue.id}` } }
  }

  /** The status of an issue in the search's index by now. */
  const indexedStatus = (issue: Issue, isReconciled: boolean): Status | undefined => {
    if (isReconciled) return statusOf(issue)
    return issue.statuses.findLast(({ atMs }) => atMs <= clock.nowMs() - searchLagMs)?.status
  }

  const search = (given: Fields): StubAnswer => {
    const {
      jql,
      maxResults = 50,
      fields = [],
      reconcileIssues = [],
    } = given as {
      jql?: string
      maxResults?: number
      fields?: readonly string[]
      reconcileIssues?: readonly (number | string)[]
    }
    const test = typeof jql === 'string' ? parseJql(jql, JQL_FIELDS) : 'The JQL query is missing.'
    if (typeof test === 'string') return errors(400, test)
    if (reconcileIssues.length > MAX_RECONCILED) return errors(400, `reconcileIssues: at most ${MAX_RECONCILED} ids`)
    const reconciled = new Set(reconcileIssues.map(String))
    const found = issues.all().flatMap(issue => {
      const status = indexedStatus(issue, reconciled.has(issue.id))
      return status !== undefined && test(jqlFieldsOf(issue, status)) ? [{ issue, status }] : []
    })
    const shown = found
      .slice(0, Math.min(maxResults, 5_000))
      .map(({ issue, status }) => ({ id: issue.id, ...pickFields(issue, status, fields) }))
    return { body: { issues: shown, isLast: true } }
  }

  const transitionsOf = (issue: Issue): readonly Transition[] => {
    const { name } = statusOf(issue)
    const open = projectCalled(issue.project)!.transitions.filter(({ from }) => from === undefined || from.includes(name))
    return missing.times > 0 ? open.filter(({ to }) => to.category !== missing.category) : open
  }

  const routes: readonly StubRoute[] = [
    {
      method: 'GET',
      path: '/rest/api/3/myself',
      handle: () => ({ body: { accountId: 'demo', emailAddress: DEMO.jira.userEmail, displayName: 'Demo User', active: true } }),
    },
    {
      method: 'GET',
      path: '/rest/api/3/mypermissions',
      handle({ query }) {
        const project = query.get('projectKey')
        if (project !== null && projectCalled(project) === undefined) return errors(404, `No project could be found with key '${project}'.`)
        const names = query.get('permissions')?.split(',') ?? []
        if (names.length === 0) return errors(400, 'The permissions query parameter is required.')
        return { body: { permissions: Object.fromEntries(names.map(key => [key, { key, havePermission: true }])) } }
      },
    },
    { method: 'GET', path: '/rest/api/3/priority', handle: () => ({ body: PRIORITIES.map((name, at) => ({ id: String(at + 1), name })) }) },
    {
      method: 'GET',
      path: '/rest/api/3/project/:project',
      handle: onProject(project => ({ body: { key: project.key, name: project.name, issueTypes: ISSUE_TYPES } })),
    },
    {
      method: 'GET',
      path: '/rest/api/3/issue/createmeta/:project/issuetypes',
      handle: onProject(() => ({ body: { startAt: 0, maxResults: 50, total: ISSUE_TYPES.length, issueTypes: ISSUE_TYPES } })),
    },
    { method: 'GET', path: '/rest/api/3/issue/createmeta/:project/issuetypes/:type', handle: onProject(createMeta) },
    { method: 'POST', path: '/rest/api/3/issue', handle: create },
    {
      method: 'GET',
      path: '/rest/api/3/issue/:key',
      handle: onIssue(issue => ({ body: { id: issue.id, ...pickFields(issue, statusOf(issue), ['*all']) } })),
    },
    {
      method: 'PUT',
      path: '/rest/api/3/issue/:key',
      handle: onIssue((issue, { json }) => {
        const fields = fieldsOf(json)
        const problems = fieldProblems(fields)
        if (Object.keys(problems).length > 0) return errors(400, undefined, problems)
        edit(issue, fields)
        return { status: 204 }
      }),
    },
    {
      method: 'GET',
      path: '/rest/api/3/issue/:key/transitions',
      handle: onIssue(issue => {
        const body = { transitions: transitionsOf(issue).map(({ id, name, to }) => ({ id, name, to: showStatus(to) })) }
        missing = { ...missing, times: Math.max(0, missing.times - 1) }
        return { body }
      }),
    },
    {
      method: 'POST',
      path: '/rest/api/3/issue/:key/transitions',
      handle: onIssue((issue, { json }) => {
        const id = String((json as { transition?: { id?: unknown } } | undefined)?.transition?.id)
        const chosen = transitionsOf(issue).find(each => each.id === id)
        if (chosen === undefined)
          return errors(
            400,
            `It seems that you have tried to perform a workflow operation (${id}) that is not valid for the current state of this issue.`,
          )
        append(issue.statuses, { atMs: clock.nowMs(), status: chosen.to })
        return { status: 204 }
      }),
    },
    {
      method: 'GET',
      path: '/rest/api/3/issue/:key/comment',
      handle: onIssue(({ comments }) => ({
        body: {
          startAt: 0,
          maxResults: 5_000,
          total: comments.length,
          comments: comments.map(({ id, at, body }) => ({ id, created: at, body })),
        },
      })),
    },
    {
      method: 'POST',
      path: '/rest/api/3/issue/:key/comment',
      handle: onIssue((issue, { json }) => {
        const body = (json as { body?: unknown } | undefined)?.body
        const problem = textProblem(body)
        if (problem !== undefined) return errors(400, undefined, { comment: problem })
        const comment = { id: String(++ids), at: nowIso(), body: body as AdfNode }
        append(issue.comments, comment)
        return { status: 201, body: { id: comment.id, created: comment.at } }
      }),
    },
    ...(['GET', 'POST'] as const).map(
      (method): StubRoute => ({
        method,
        path: '/rest/api/3/search',
        handle: () => errors(410, 'The requested API has been removed. Please migrate to the /rest/api/3/search/jql API.'),
      }),
    ),
    { method: 'POST', path: '/rest/api/3/search/jql', handle: ({ json }) => search((json ?? {}) as Fields) },
    {
      method: 'GET',
      path: '/rest/api/3/search/jql',
      handle: ({ query }) =>
        search({
          jql: query.get('jql') ?? undefined,
          fields: query.get('fields')?.split(','),
          maxResults: Number(query.get('maxResults') ?? 50),
        }),
    },
    {
      method: 'GET',
      path: BROWSE,
      handle: ({ params }) => ({ status: 302, headers: { location: `/#${encodeURIComponent(params['key']!)}` } }),
    },
  ]

  const expected = basicAuthorization(DEMO.jira.userEmail, DEMO.jira.apiToken)
  return {
    title: 'Jira Cloud',
    routes,
    refuseCaller: ({ headers, route }) =>
      headers['authorization'] === expected || route === BROWSE ? undefined : errors(401, NOT_AUTHENTICATED),
    refuse: status => errors(status, MESSAGES[status] ?? 'made to fail'),
    ownFaults: {
      /** ms, from now on. */
      'search-lag'(value) {
        searchLagMs = Number(value)
      },
      /** The category of status that the next so many lists of transitions do not offer. */
      'missing-transition'(value, times) {
        missing = { category: String(value), times }
      },
    },
    state: () => ({
      issues: issues.all().map(issue => ({
        ...pickFields(issue, statusOf(issue), ['*all']),
        comments: issue.comments.map(({ at, body }) => ({ at, text: adfText(body) })),
      })),
    }),
    page: () => showIssues(issues.all()),
    clear() {
      issues.clear()
      counts.clear()
    },
  }
}

const NOT_AUTHENTICATED = 'Client must be authenticated to access this resource.'
const MESSAGES: Readonly<Record<number, string>> = { 401: NOT_AUTHENTICATED, 404: 'Not found.', 429: 'Rate limit exceeded.' }

/** The page of an issue, which people open in a browser without credentials. */
const BROWSE = '/browse/:key'

function errors(status: number, message: string | undefined, problems: Errors = {}): StubAnswer {
  return { status, body: { errorMessages: message === undefined ? [] : [message], errors: problems } }
}

const projectCalled = (key: string) => PROJECTS.find(each => each.key === key)
const fieldsOf = (json: unknown): Fields => ((json as { fields?: Fields } | undefined)?.fields ?? {}) as Fields
const nameOf = (value: unknown) => (value as { name?: string } | undefined)?.name
const projectOf = (fields: Fields) => projectCalled(String((fields['project'] as { key?: unknown } | undefined)?.key))

function onProject(handle: (project: Project) => StubAnswer) {
  return ({ params }: StubRequest): StubAnswer => {
    const project = projectCalled(params['project']!)
    return project === undefined ? errors(404, `No project could be found with key '${params['project']}'.`) : handle(project)
  }
}

function createMeta({ requiredFields }: Project): StubAnswer {
  const usual = USUAL_FIELDS.map(id => ({
    fieldId: id,
    key: id,
    name: id,
    required: ['project', 'issuetype', 'summary'].includes(id),
    hasDefaultValue: false,
  }))
  const more = requiredFields.map(({ id, name }) => ({ fieldId: id, key: id, name, required: true, hasDefaultValue: false }))
  const fields = [...usual, ...more]
  return { body: { startAt: 0, maxResults: 50, total: fields.length, fields } }
}

/** Fields that a new issue lacks. */
function createProblems(fields: Fields): Errors {
  const problems: Errors = {}
  const project = projectOf(fields)
  if (project === undefined) problems['project'] = 'valid project is required'
  if (!ISSUE_TYPES.some(({ name }) => name === nameOf(fields['issuetype']))) problems['issuetype'] = 'Specify a valid issue type'
  if (fields['summary'] === undefined) problems['summary'] = 'You must specify a summary of the issue.'
  for (const { id, name } of project?.requiredFields ?? []) if (fields[id] === undefined) problems[id] = `${name} is required.`
  return problems
}

/** Problems of the fields that are there. */
function fieldProblems(fields: Fields): Errors {
  const problems: Errors = {}
  const { summary, description, labels, priority } = fields
  const known = [...USUAL_FIELDS, ...PROJECTS.flatMap(({ requiredFields }) => requiredFields.map(({ id }) => id))]
  for (const name of Object.keys(fields))
    if (!known.includes(name)) problems[name] = `Field '${name}' cannot be set. It is not on the appropriate screen, or unknown.`
  if (summary !== undefined && (typeof summary !== 'string' || summary.trim() === ''))
    problems['summary'] = 'You must specify a summary of the issue.'
  else if (typeof summary === 'string' && [...summary].length > MAX_SUMMARY)
    problems['summary'] = `Summary must be less than or equal to ${MAX_SUMMARY} characters.`
  else if (typeof summary === 'string' && /[\r\n]/.test(summary))
    problems['summary'] = 'The summary is invalid because it contains newline characters.'
  const text = description === undefined || description === null ? undefined : textProblem(description)
  if (text !== undefined) problems['description'] = text
  if (
    labels !== undefined &&
    !(Array.isArray(labels) && labels.every(label => typeof label === 'string' && label !== '' && !/\s/.test(label) && label.length <= 255))
  )
    problems['labels'] = 'The label contains spaces which is invalid.'
  if (priority !== undefined && !PRIORITIES.some(name => name === nameOf(priority)))
    problems['priority'] = 'The priority selected is invalid.'
  return problems
}

function textProblem(value: unknown): string | undefined {
  const problem = adfProblem(value)
  if (problem !== undefined) return problem
  return [...adfText(value as AdfNode)].length > MAX_TEXT
    ? `The entered text is too long. It exceeds the allowed limit of ${MAX_TEXT} characters.`
    : undefined
}

function edit(issue: Issue, fields: Fields): void {
  const { summary, description, labels, priority } = fields
  if (summary !== undefined) issue.summary = summary as string
  if (description !== undefined) issue.description = (description ?? undefined) as AdfNode | undefined
  if (labels !== undefined) issue.labels = labels as readonly string[]
  if (priority !== undefined) issue.priority = nameOf(priority)!
}

const showStatus = ({ id, name, category }: Status) => ({ id, name, statusCategory: { key: category, name } })

const JQL_FIELDS = ['project', 'labels', 'status', 'statusCategory', 'key', 'issuekey', 'id', 'issuetype', 'priority', 'summary', 'text']

/** Values as JQL names them: `statusCategory != Done`. */
const CATEGORY_NAMES = { new: ['new', 'To Do'], indeterminate: ['indeterminate', 'In Progress'], done: ['done', 'Done'] } as const

function jqlFieldsOf({ project, labels, key, id, issueType, priority, summary }: Issue, { name, category }: Status) {
  return {
    project: [project],
    labels,
    status: [name],
    statusCategory: CATEGORY_NAMES[category],
    key: [key],
    issuekey: [key],
    id: [id],
    issuetype: [issueType],
    priority: [priority],
    summary: [summary],
    text: [summary],
  }
}

/** Only the id, unless fields are asked for. */
function pickFields(issue: Issue, status: Status, wanted: readonly string[]): object {
  if (wanted.length === 0) return {}
  const all: Record<string, unknown> = {
    project: { key: issue.project },
    issuetype: { name: issue.issueType },
    summary: issue.summary,
    description: issue.description ?? null,
    labels: issue.labels,
    priority: { name: issue.priority },
    status: showStatus(status),
    created: issue.created,
  }
  const isAll = wanted.some(name => name === '*all' || name === '*navigable')
  return { key: issue.key, fields: isAll ? all : Object.fromEntries(wanted.filter(name => name in all).map(name => [name, all[name]])) }
}
