/** The exception that a framework wraps in a long line of its own: readers see the beginning of a line, and that is the same for all (Decisions 6). */

/** Tomcat and Spring: `Servlet.service() for servlet [x] in context with path [] threw exception [Request processing failed; nested exception is E: why] with root cause`. */
const WRAPPING =
  /^(?:Servlet\.service\(\) for servlet |Request processing failed).{0,300}?(?:nested exception is |Request processing failed: )(?=[^\s\]])/s
const WRAPPED_END = /\](?: with root cause)?\s*$/

/** A line without what wraps its exception; any other line as it is. */
export function withoutWrapping(line: string): string {
  const found = WRAPPING.exec(line)
  if (found === null) return line
  const inner = line.slice(found[0].length)
  return found[0].includes('[Request processing failed') ? inner.replace(WRAPPED_END, '') : inner
}
