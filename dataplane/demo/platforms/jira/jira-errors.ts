import type { StubAnswer } from '../stub-platform.ts'

/** Problems of the fields of a request, by their names. */
export type FieldProblems = Record<string, string>

/** An answer in Jira's form of errors. */
export function errors(status: number, message: string | undefined, problems: FieldProblems = {}): StubAnswer {
  return { status, body: { errorMessages: message === undefined ? [] : [message], errors: problems } }
}
