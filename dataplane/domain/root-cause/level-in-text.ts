/** Whether a line of text without a severity of its own tells that it is an error: `2026-03-03 04:00:01 ERROR [main] ...` (Decisions 6). */
import { withoutTerminalCodes } from '../records/terminal-codes.ts'

/** The level stands at the start of a line, after a time and perhaps a thread. */
const MAX_CHARACTERS = 160
/** The first level that a line names is its own: `INFO retrying after ERROR` is none. */
const LEVEL =
  /(?:^|[\s[(<|])(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL|PANIC|EMERG)(?=[\s\])>|:,]|$)|\b(?:level|lvl|severity)=["']?(\w+)|\[(debug|info|notice|warn|error|crit|alert|emerg)\]/
/** Programs that die write no level. */
const CRASH = /^(?:panic: |Traceback \(most recent call last\)|Exception in thread |Uncaught \w*Error\b|fatal error: )/
const ERRORS = new Set(['ERROR', 'SEVERE', 'CRITICAL', 'CRIT', 'FATAL', 'PANIC', 'EMERG', 'ALERT', 'ERR'])

export function saysError(message: string): boolean {
  const start = withoutTerminalCodes(message.slice(0, MAX_CHARACTERS))
  if (CRASH.test(start)) return true
  const found = LEVEL.exec(start)
  return found !== null && ERRORS.has((found[1] ?? found[2] ?? found[3])!.toUpperCase())
}
