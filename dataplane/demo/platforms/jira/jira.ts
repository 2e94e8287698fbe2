/** Jira Cloud REST v3, as far as tickets need it: create, search that lags behind, transitions, comments, edits. */
import { basicAuthorization } from '../../../http/basic-authorization.ts'
import type { Clock } from '../../../ports/clock.ts'
import { DEMO } from '../settings.ts'
import type { StubAnswer, StubPlatform, StubRequest, StubRoute } from '../stub-platform.ts'
import { type AdfNode, adfText } from './adf.ts'
import { errors } from './jira-errors.ts'
import { createProblems, fieldProblems, fieldsOf, projectOf, setFields, textProblem } from './jira-fields.ts'
import { type Issue, pickFields, showStatus, statusOf } from './jira-issue.ts'
import { createIssues } from './jira-issues.ts'
import { METADATA_ROUTES } from './jira-metadata.ts'
import { showIssues } from './jira-page.ts'
import { projectCalled, type Transition } from './jira-projects.ts'
import { createIssueSearch } from './jira-search.ts'

/** The page of an issue, which people open in a browser without credentials. */
const BROWSE = '/browse/:key'
const NOT_AUTHENTICATED = 'Client must be authenticated to access this resource.'
const MESSAGES: Readonly<Record<number, string>> = { 401: NOT_AUTHENTICATED, 404: 'Not found.', 429: 'Rate limit exceeded.' }

export function createJira(clock: Clock): StubPlatform {
  const issues = createIssues(clock)
  const search = createIssueSearch(issues.all, clock)
  /** A category of status that the next so many lists of transitions do not offer. */
  let missing = { category: '', times: 0 }

  /** Answers for the issue that the path names; 404 without one. */
  const onIssue =
    (handle: (issue: Issue, request: StubRequest) => StubAnswer) =>
    (request: StubRequest): StubAnswer => {
      const issue = issues.find(request.params['key']!)
      return issue === undefined ? errors(404, 'Issue does not exist or you do not have permission to see it.') : handle(issue, request)
    }

  const create = ({ json, origin }: StubRequest): StubAnswer => {
    const fields = fieldsOf(json)
    const problems = { ...createProblems(fields), ...fieldProblems(fields) }
    if (Object.keys(problems).length > 0) return errors(400, undefined, problems)
    const { id, key } = issues.create(projectOf(fields)!, fields)
    return { status: 201, body: { id, key, self: `${origin}/rest/api/3/issue/${id}` } }
  }

  const edit = (issue: Issue, { json }: StubRequest): StubAnswer => {
    const fields = fieldsOf(json)
    const problems = fieldProblems(fields)
    if (Object.keys(problems).length > 0) return errors(400, undefined, problems)
    setFields(issue, fields)
    return { status: 204 }
  }

  const transitionsOf = (issue: Issue): readonly Transition[] => {
    const { name } = statusOf(issue)
    const open = projectCalled(issue.project)!.transitions.filter(({ from }) => from === undefined || from.includes(name))
    return missing.times > 0 ? open.filter(({ to }) => to.category !== missing.category) : open
  }

  const listTransitions = (issue: Issue): StubAnswer => {
    const transitions = transitionsOf(issue).map(({ id, name, to }) => ({ id, name, to: showStatus(to) }))
    missing = { ...missing, times: Math.max(0, missing.times - 1) }
    return { body: { transitions } }
  }

  const transition = (issue: Issue, { json }: StubRequest): StubAnswer => {
    const id = String((json as { transition?: { id?: unknown } } | undefined)?.transition?.id)
    const chosen = transitionsOf(issue).find(each => each.id === id)
    if (chosen === undefined)
      return errors(
        400,
        `It seems that you have tried to perform a workflow operation (${id}) that is not valid for the current state of this issue.`,
      )
    issues.move(issue, chosen.to)
    return { status: 204 }
  }

  const comment = (issue: Issue, { json }: StubRequest): StubAnswer => {
    const body = (json as { body?: unknown } | undefined)?.body
    const problem = textProblem(body)
    if (problem !== undefined) return errors(400, undefined, { comment: problem })
    const { id, at } = issues.comment(issue, body as AdfNode)
    return { status: 201, body: { id, created: at } }
  }

  const show = (issue: Issue) => pickFields(issue, statusOf(issue), ['*all'])
  const routes: readonly StubRoute[] = [
    ...METADATA_ROUTES,
    { method: 'POST', path: '/rest/api/3/issue', handle: create },
    { method: 'GET', path: '/rest/api/3/issue/:key', handle: onIssue(issue => ({ body: { id: issue.id, ...show(issue) } })) },
    { method: 'PUT', path: '/rest/api/3/issue/:key', handle: onIssue(edit) },
    { method: 'GET', path: '/rest/api/3/issue/:key/transitions', handle: onIssue(listTransitions) },
    { method: 'POST', path: '/rest/api/3/issue/:key/transitions', handle: onIssue(transition) },
    { method: 'GET', path: '/rest/api/3/issue/:key/comment', handle: onIssue(listComments) },
    { method: 'POST', path: '/rest/api/3/issue/:key/comment', handle: onIssue(comment) },
    ...search.routes,
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
      'search-lag': value => search.setLag(Number(value)),
      'missing-transition'(value, times) {
        missing = { category: String(value), times }
      },
    },
    state: () => ({
      issues: issues
        .all()
        .map(issue => ({ ...show(issue), comments: issue.comments.map(({ at, body }) => ({ at, text: adfText(body) })) })),
    }),
    page: () => showIssues(issues.all()),
    clear: issues.clear,
  }
}

function listComments({ comments }: Issue): StubAnswer {
  const shown = comments.map(({ id, at, body }) => ({ id, created: at, body }))
  return { body: { startAt: 0, maxResults: 5_000, total: shown.length, comments: shown } }
}
