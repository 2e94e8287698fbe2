/** Names the problems that a schema finds in a value, in words for its author. */
import type { z } from 'zod'

type Issue = z.core.$ZodIssue

/** One text for each problem, `field: expected …, seen …`; to be parsed with `reportInput`. `where` names the value as a whole. */
export function schemaProblems({ issues }: z.ZodError, where: string): readonly string[] {
  return issues.flatMap(issue => describe(issue, where))
}

function describe(issue: Issue, where: string): readonly string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(key => `${fieldName([...issue.path, key], where)}: unknown field`)
  return [`${fieldName(issue.path, where)}: ${expectation(issue)}${seen(issue.input)}`]
}

function fieldName(path: readonly PropertyKey[], where: string): string {
  return path.length === 0 ? where : path.map(String).join('.')
}

/** zod's `Invalid input: expected number, received string` without its head and tail. */
function expectation({ message }: Issue): string {
  return message.replace(/^(Invalid input|Invalid option|Invalid string|Too big|Too small): /, '').replace(/, received .*$/, '')
}

function seen(input: unknown): string {
  if (input === undefined) return ', seen nothing'
  if (input === null || typeof input === 'boolean' || typeof input === 'number') return `, seen ${input}`
  if (typeof input === 'string') return `, seen ${JSON.stringify(input.length > 60 ? `${input.slice(0, 60)}…` : input)}`
  return Array.isArray(input) ? `, seen an array of ${input.length}` : ', seen an object'
}
