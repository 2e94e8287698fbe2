/** The fields of an issue as requests set them, and the problems that Jira finds in them. */
import { type AdfNode, adfProblem, adfText } from './adf.ts'
import type { FieldProblems } from './jira-errors.ts'
import type { Issue } from './jira-issue.ts'
import { ISSUE_TYPES, PRIORITIES, PROJECTS, type Project, projectCalled } from './jira-projects.ts'

export type Fields = Readonly<Record<string, unknown>>

export const USUAL_FIELDS = ['project', 'issuetype', 'summary', 'description', 'labels', 'priority'] as const
const MAX_SUMMARY = 255
const MAX_TEXT = 32_767

export const fieldsOf = (json: unknown): Fields => ((json as { fields?: Fields } | undefined)?.fields ?? {}) as Fields

export const projectOf = (fields: Fields): Project | undefined =>
  projectCalled(String((fields['project'] as { key?: unknown } | undefined)?.key))

export const issueTypeOf = (fields: Fields): string | undefined => nameOf(fields['issuetype'])

const nameOf = (value: unknown) => (value as { name?: string } | undefined)?.name

/** Fields that a new issue lacks. */
export function createProblems(fields: Fields): FieldProblems {
  const problems: FieldProblems = {}
  const project = projectOf(fields)
  if (project === undefined) problems['project'] = 'valid project is required'
  if (!ISSUE_TYPES.some(({ name }) => name === issueTypeOf(fields))) problems['issuetype'] = 'Specify a valid issue type'
  if (fields['summary'] === undefined) problems['summary'] = 'You must specify a summary of the issue.'
  for (const { id, name } of project?.requiredFields ?? []) if (fields[id] === undefined) problems[id] = `${name} is required.`
  return problems
}

/** Problems of the fields that are there. */
export function fieldProblems(fields: Fields): FieldProblems {
  const problems: FieldProblems = {}
  const { summary, description, labels, priority } = fields
  const known: readonly string[] = [...USUAL_FIELDS, ...PROJECTS.flatMap(({ requiredFields }) => requiredFields.map(({ id }) => id))]
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

/** The problem of a text in the Atlassian Document Format. */
export function textProblem(value: unknown): string | undefined {
  const problem = adfProblem(value)
  if (problem !== undefined) return problem
  return [...adfText(value as AdfNode)].length > MAX_TEXT
    ? `The entered text is too long. It exceeds the allowed limit of ${MAX_TEXT} characters.`
    : undefined
}

/** Sets those of the fields that a request may change; they have no problems. */
export function setFields(issue: Issue, fields: Fields): void {
  const { summary, description, labels, priority } = fields
  if (summary !== undefined) issue.summary = summary as string
  if (description !== undefined) issue.description = (description ?? undefined) as AdfNode | undefined
  if (labels !== undefined) issue.labels = labels as readonly string[]
  if (priority !== undefined) issue.priority = nameOf(priority)!
}
