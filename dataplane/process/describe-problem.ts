/** Errors that JavaScript itself throws when the program is wrong. */
const DEFECTS = [TypeError, RangeError, ReferenceError, SyntaxError]

/**
 * An error for the person who started the program: what the code or the system says is amiss, with its causes, in one line. A defect of the
 * program is shown with its stack.
 */
export function describeProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (DEFECTS.some(kind => error instanceof kind)) return error.stack ?? error.message
  const messages: string[] = []
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if (!messages.some(text => text.includes((at as Error).message))) messages.push(at.message)
  // Libraries end sentences: `Connection to kafka:9092 failed.: connect ECONNREFUSED`.
  return messages
    .map((text, at) => (at < messages.length - 1 ? text.replace(/\.$/, '') : text))
    .join(': ')
    .replace(/\s*\n\s*/g, ' ')
}
