/** Names the problems that a schema finds in a value, in words for its author. */
import type { z } from 'zod'
import { shortened } from '../text/shortened.ts'

type Issue = z.core.$ZodIssue

/** Problems that are named; a body may have one for each of its values. */
const MAX_NAMED = 100
/** Characters of the name of a field, which the sender chose. */
const MAX_NAME = 100
/** Longest text that a message shows. */
const MAX_SEEN = 60

/**
 * One text for each problem, `field: expected …, seen …`, and one for the number of those that are not named; to be parsed with `reportInput`.
 * `where` names the value as a whole.
 */
export function schemaProblems({ issues }: z.ZodError, where: string): readonly string[] {
  const named = issues.slice(0, MAX_NAMED).flatMap(issue => describe(issue, where))
  const more = issues.reduce((sum, issue) => sum + countOf(issue), 0) - MAX_NAMED
  return more > 0 ? [...named.slice(0, MAX_NAMED), `and ${more} more`] : named
}

function countOf(issue: Issue): number {
  return issue.code === 'unrecognized_keys' ? issue.keys.length : 1
}

function describe(issue: Issue, where: string): readonly string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, MAX_NAMED).map(key => `${fieldName([...issue.path, key], where)}: unknown field`)
  return [`${fieldName(issue.path, where)}: ${expectation(issue)}${seen(issue.input)}`]
}

function fieldName(path: readonly PropertyKey[], where: string): string {
  return shortened(path.length === 0 ? where : path.map(String).join('.'), MAX_NAME)
}

/** zod's `Invalid input: expected number, received string` without its head and tail, and its `Invalid option: expected one of "a"|"b"` as other messages put it. */
function expectation(issue: Issue): string {
  const { message } = issue
  if (issue.code === 'invalid_value' && message.startsWith('Invalid option: ')) return `expected one of ${issue.values.join(', ')}`
  return message.replace(/^(Invalid input|Invalid string|Too big|Too small): /, '').replace(/, received .*$/, '')
}

function seen(input: unknown): string {
  if (input === undefined) return ', seen nothing'
  if (input === null || typeof input === 'boolean' || typeof input === 'number') return `, seen ${input}`
  if (typeof input === 'string') return `, seen ${JSON.stringify(shortened(input, MAX_SEEN))}`
  return Array.isArray(input) ? `, seen an array of ${input.length}` : ', seen an object'
}
