/** Words and numbers of reasons, for people who were just woken up (Decisions 6). */

import { shortened } from '../../text/shortened.ts'
import { wordsOfLine } from '../records/words-of-line.ts'
import { withoutWrapping } from '../records/wrapped-exception.ts'

const MAX_QUOTE = 120

/** A log message on one line, without the head that its logger wrote and the words in which a framework wraps an exception, cut. */
export function quoted(message: string): string {
  if (message.startsWith('{') && message.includes('<*>')) return recordWith(message)
  const line = wordsOfLine(withoutWrapping(message).slice(0, 4 * MAX_QUOTE))
    .replaceAll(/\s+/g, ' ')
    .trim()
  if (line === '') return 'a record without a message'
  return `“${shortened(line, MAX_QUOTE)}”`
}

const MAX_KEYS = 6

/** The pattern of a JSON object has its keys alone; a record with values is quoted as it is. */
function recordWith(pattern: string): string {
  const keys = [...new Set(Array.from(pattern.matchAll(/"([\w.@-]{1,40})": ?<\*>/g), ([, key]) => key!))]
  return keys.length === 0 ? 'a JSON record' : `a JSON record (${keys.slice(0, MAX_KEYS).join(', ')}${keys.length > MAX_KEYS ? ', …' : ''})`
}

export function atLeast(level: number): string {
  return level === 1 ? '' : level === 2 ? ' (twice or more)' : ` (${level} times or more)`
}

/** `1 record`, `2 records`. */
export function recordsOf(count: number): string {
  return count === 1 ? '1 record' : `${count} records`
}

/** `once`, `2 times`. */
export function timesOf(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

/** One decimal below 100, none above. */
export function rounded(value: number): number {
  return value < 100 ? Math.round(value * 10) / 10 : Math.round(value)
}

/** `480 ms`, `2.1 s`. */
export function duration(ms: number): string {
  return ms < 1_000 ? `${rounded(ms)} ms` : `${rounded(ms / 1_000)} s`
}
