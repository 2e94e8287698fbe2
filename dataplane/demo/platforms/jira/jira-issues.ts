/** The issues that the stub Jira keeps, numbered within their project. */
import type { Clock } from '../../../ports/clock.ts'
import { append, createNewest } from '../newest.ts'
import type { AdfNode } from './adf.ts'
import { type Fields, issueTypeOf, setFields } from './jira-fields.ts'
import type { Issue } from './jira-issue.ts'
import type { Project, Status } from './jira-projects.ts'

export interface Issues {
  /** The newest first. */
  all(): readonly Issue[]
  find(idOrKey: string): Issue | undefined
  /** The fields have no problems. */
  create(project: Project, fields: Fields): Issue
  move(issue: Issue, status: Status): void
  comment(issue: Issue, body: AdfNode): Issue['comments'][number]
  clear(): void
}

export function createIssues(clock: Clock): Issues {
  const issues = createNewest<Issue>()
  /** The number of the last issue of each project. */
  const numbers = new Map<string, number>()
  /** The id given last, of issues and comments. */
  let ids = 10_000

  const nowIso = () => new Date(clock.nowMs()).toISOString()
  return {
    all: issues.all,
    find: idOrKey => issues.get(idOrKey.toUpperCase()) ?? issues.all().find(({ id }) => id === idOrKey),
    create(project, fields) {
      const number = (numbers.get(project.key) ?? 0) + 1
      numbers.set(project.key, number)
      const issue: Issue = {
        id: String(++ids),
        key: `${project.key}-${number}`,
        project: project.key,
        issueType: issueTypeOf(fields)!,
        created: nowIso(),
        summary: '',
        description: undefined,
        labels: [],
        priority: 'Medium',
        comments: [],
        statuses: [{ atMs: clock.nowMs(), status: project.statuses[0]! }],
      }
      setFields(issue, fields)
      return issues.put(issue.key, issue)
    },
    move: (issue, status) => append(issue.statuses, { atMs: clock.nowMs(), status }),
    comment(issue, body) {
      const comment = { id: String(++ids), at: nowIso(), body }
      append(issue.comments, comment)
      return comment
    },
    clear() {
      issues.clear()
      numbers.clear()
    },
  }
}
