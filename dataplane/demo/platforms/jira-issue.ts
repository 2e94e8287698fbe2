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
