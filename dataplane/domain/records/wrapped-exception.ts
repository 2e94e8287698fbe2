/** The exception that a framework wraps in a long line of its own, that Python writes below its frames, or Java behind all that it caused: readers see the beginning of a message (Decisions 6). */

/** Tomcat and Spring: `Servlet.service() for servlet [x] in context with path [] threw exception [Request processing failed; nested exception is E: why] with root cause`. */
const WRAPPING =
  /^(?:Servlet\.service\(\) for servlet |Request processing failed).{0,300}?(?:nested exception is |Request processing failed: )(?=[^\s\]])/s
const WRAPPED_END = /\](?: with root cause)?\s*$/

/** Python writes the frames first, the outermost before all, and the exception last. One that is cut off ends within a frame, whose lines are indented. */
const TRACEBACK = /^(?:([^\n]+)\n)?Traceback \(most recent call last\)/
/** Java writes the exception that the others are made of last, each behind the frames of the one before it. */
const CAUSED_BY = '\nCaused by: '

/** A message without what wraps its exception; any other one as it is. */
export function withoutWrapping(message: string): string {
  const traceback = TRACEBACK.exec(message)
  if (traceback !== null) return lastOfTraceback(message, traceback[1])
  const at = message.lastIndexOf(CAUSED_BY)
  if (at > 0) {
    const exception = lineAt(message, at + CAUSED_BY.length)
    return behind(lineAt(message, 0), withCalled(message.slice(0, at), exception))
  }
  const found = WRAPPING.exec(message)
  if (found === null) return message
  const inner = message.slice(found[0].length)
  return found[0].includes('[Request processing failed') ? inner.replace(WRAPPED_END, '') : inner
}

function lastOfTraceback(traceback: string, says: string | undefined): string {
  const whole = traceback.trimEnd()
  const last = whole.slice(whole.lastIndexOf('\n') + 1)
  return /^[A-Za-z_]/.test(last) ? behind(says, last) : traceback
}

/** `I/O error on POST request for "http://orders:8080": java.net.ConnectException: Connection refused`: an exception that ends with the words of its cause tells whom it called, and the cause does not. */
function withCalled(before: string, exception: string): string {
  const end = exception.slice(exception.indexOf(': '))
  const called = before.split('\n').find(line => line.includes('://') && line.trimEnd().endsWith(end))
  return end.length <= 2 || called === undefined ? exception : `${called.trimEnd().slice(0, -end.length)}: ${exception}`
}

function lineAt(text: string, from: number): string {
  const end = text.indexOf('\n', from)
  return text.slice(from, end < 0 ? undefined : end).trimEnd()
}

/** The exception behind what the program said of it, which often holds it. */
function behind(says: string | undefined, exception: string): string {
  return says === undefined || exception === '' || says.includes(exception) ? (says ?? exception) : `${says}: ${exception}`
}
