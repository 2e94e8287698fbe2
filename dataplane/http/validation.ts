/** Holds input against a schema, naming every problem by its field (Decisions 7). */
import type { z } from 'zod'
import { schemaProblems } from '../contract/schema-problems.ts'
import { HttpError } from './http-error.ts'

/** `where` names the input as a whole, e.g. `body`. Throws `HttpError` 400 with all problems in one message. */
export function validate<T>(schema: z.ZodType<T>, input: unknown, where: string): T {
  const result = schema.safeParse(input, { reportInput: true })
  if (result.success) return result.data
  throw new HttpError(400, schemaProblems(result.error, where).join('; '))
}
