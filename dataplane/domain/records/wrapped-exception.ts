/** The exception that a framework wraps in a long line of its own, or that Python writes below its frames: readers see the beginning of a message, and that is the same for all (Decisions 6). */

/** Tomcat and Spring: `Servlet.service() for servlet [x] in context with path [] threw exception [Request processing failed; nested exception is E: why] with root cause`. */
const WRAPPING =
  /^(?:Servlet\.service\(\) for servlet |Request processing failed).{0,300}?(?:nested exception is |Request processing failed: )(?=[^\s\]])/s
const WRAPPED_END = /\](?: with root cause)?\s*$/

/** Python writes the frames first, the outermost before all, and the exception last. One that is cut off ends within a frame, whose lines are indented. */
const TRACEBACK = /^Traceback \(most recent call last\)/

/** A message without what wraps its exception; any other one as it is. */
export function withoutWrapping(message: string): string {
  if (TRACEBACK.test(message)) return lastOfTraceback(message)
  const found = WRAPPING.exec(message)
  if (found === null) return message
  const inner = message.slice(found[0].length)
  return found[0].includes('[Request processing failed') ? inner.replace(WRAPPED_END, '') : inner
}

function lastOfTraceback(traceback: string): string {
  const whole = traceback.trimEnd()
  const last = whole.slice(whole.lastIndexOf('\n') + 1)
  return /^[A-Za-z_]/.test(last) ? last : traceback
}
