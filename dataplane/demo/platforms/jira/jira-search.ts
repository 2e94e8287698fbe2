/** Searches by JQL. They see issues and their statuses as they were some time ago, but for those that a request asks to be reconciled. */
import type { Clock } from '../../../ports/clock.ts'
import type { StubAnswer, StubRoute } from '../stub-platform.ts'
import { errors } from './jira-errors.ts'
import { type Issue, pickFields, statusOf } from './jira-issue.ts'
import type { Status } from './jira-projects.ts'
import { parseJql } from './jql.ts'

/** How long a new issue or status is not found by a search. */
const SEARCH_LAG_MS = 2_000
const MAX_RECONCILED = 50
const MAX_RESULTS = 5_000

interface SearchRequest {
  readonly jql?: string | undefined
  readonly maxResults?: number
  readonly fields?: readonly string[] | undefined
  /** Ids of issues whose present state counts. */
  readonly reconcileIssues?: readonly (number | string)[]
}

export interface IssueSearch {
  readonly routes: readonly StubRoute[]
  setLag(lagMs: number): void
}

/** `issues`: all of them, the newest first. */
export function createIssueSearch(issues: () => readonly Issue[], clock: Clock): IssueSearch {
  let searchLagMs = SEARCH_LAG_MS

  /** The status of an issue in the search's index by now. */
  const indexedStatus = (issue: Issue, isReconciled: boolean): Status | undefined => {
    if (isReconciled) return statusOf(issue)
    return issue.statuses.findLast(({ atMs }) => atMs <= clock.nowMs() - searchLagMs)?.status
  }

  const search = ({ jql, maxResults = 50, fields = [], reconcileIssues = [] }: SearchRequest): StubAnswer => {
    const test = typeof jql === 'string' ? parseJql(jql, JQL_FIELDS) : 'The JQL query is missing.'
    if (typeof test === 'string') return errors(400, test)
    if (reconcileIssues.length > MAX_RECONCILED) return errors(400, `reconcileIssues: at most ${MAX_RECONCILED} ids`)
    const reconciled = new Set(reconcileIssues.map(String))
    const found = issues().flatMap(issue => {
      const status = indexedStatus(issue, reconciled.has(issue.id))
      return status !== undefined && test(jqlFieldsOf(issue, status)) ? [{ issue, status }] : []
    })
    const shown = found
      .slice(0, Math.min(maxResults, MAX_RESULTS))
      .map(({ issue, status }) => ({ id: issue.id, ...pickFields(issue, status, fields) }))
    return { body: { issues: shown, isLast: true } }
  }

  return {
    routes: [
      ...(['GET', 'POST'] as const).map(
        (method): StubRoute => ({
          method,
          path: '/rest/api/3/search',
          handle: () => errors(410, 'The requested API has been removed. Please migrate to the /rest/api/3/search/jql API.'),
        }),
      ),
      { method: 'POST', path: '/rest/api/3/search/jql', handle: ({ json }) => search((json ?? {}) as SearchRequest) },
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
    ],
    setLag(lagMs) {
      searchLagMs = lagMs
    },
  }
}

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
