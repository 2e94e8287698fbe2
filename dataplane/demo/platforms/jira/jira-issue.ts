import type { AdfNode } from './adf.ts'
import type { Status } from './jira-projects.ts'

export interface Issue {
  readonly id: string
  readonly key: string
  readonly project: string
  readonly issueType: string
  readonly created: string
  summary: string
  description: AdfNode | undefined
  labels: readonly string[]
  priority: string
  readonly comments: { readonly id: string; readonly at: string; readonly body: AdfNode }[]
  /** The oldest first. */
  readonly statuses: { readonly atMs: number; readonly status: Status }[]
}

export const statusOf = (issue: Issue): Status => issue.statuses.at(-1)!.status

export const showStatus = ({ id, name, category }: Status) => ({ id, name, statusCategory: { key: category, name } })

/** The members `key` and `fields` of an issue in answers: the fields that are wanted, nothing where none are. */
export function pickFields(issue: Issue, status: Status, wanted: readonly string[]): object {
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
