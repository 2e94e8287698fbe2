/** Holds input against a schema, naming every problem by its field (Decisions 7). */
import type { z } from 'zod'
import { HttpError } from './http-error.ts'

type Issue = z.core.$ZodIssue

/** `where` names the input as a whole, e.g. `body`. Throws `HttpError` 400 with all problems in one message. */
export function validate<T>(schema: z.ZodType<T>, input: unknown, where: string): T {
  const result = schema.safeParse(input, { reportInput: true })
  if (result.success) return result.data
  throw new HttpError(400, result.error.issues.flatMap(issue => describe(issue, where)).join('; '))
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
