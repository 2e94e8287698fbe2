const COLOURS: Readonly<Record<string, string>> = { debug: '\x1b[90m', info: '\x1b[36m', warn: '\x1b[33m', error: '\x1b[31m' }
const GREY = '\x1b[90m'
const RESET = '\x1b[0m'

/** One JSON log line as a person reads it: `14:03:22 INFO  bridge  started  port=8080`; an error's stack follows on lines of its own. */
export function formatLine(json: string): string {
  const { time, level, message, role, error, ...fields } = JSON.parse(json) as Record<string, unknown>
  const head = `${GREY}${String(time).slice(11, 19)}${RESET} ${COLOURS[String(level)] ?? ''}${String(level).toUpperCase().padEnd(5)}${RESET}`
  const rest = Object.entries(fields).map(
    ([name, value]) => `${GREY}${name}=${RESET}${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return `${[head, role === undefined ? '' : `${String(role).padEnd(9)}`, message, ...rest].filter(Boolean).join(' ')}\n${stackOf(error)}`
}

function stackOf(error: unknown): string {
  if (error === undefined) return ''
  const text = typeof error === 'object' && error !== null && 'stack' in error ? String(error.stack) : JSON.stringify(error)
  return `${text.replace(/^/gm, '    ')}\n`
}
