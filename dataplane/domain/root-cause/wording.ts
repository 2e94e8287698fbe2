/** Words and numbers of reasons, for people who were just woken up (Decisions 6). */

import { shortened } from '../../text/shortened.ts'
import { wordsOfPattern } from '../records/pattern-words.ts'
import { isStackFrame } from '../records/stack-frame.ts'
import { wordsOfLine } from '../records/words-of-line.ts'
import { withoutWrapping } from '../records/wrapped-exception.ts'
import { reasonIn } from './errors/read-error-words.ts'

const MAX_QUOTE = 120
/** Parts of a longer line: as much as tells who speaks, and the words right before the reason. */
const MAX_OPENING = 40
const BEFORE_REASON = 24
/** Words of the innermost error, at least: what stands behind a last colon may be a value. */
const MIN_INNERMOST = 3
/** Characters that are looked at. */
const MAX_LINE = 4_096

/** A log message on one line, without the head that its logger wrote and the words in which a framework wraps an exception, cut. */
export function quoted(message: string): string {
  const said = wordsOfPattern(message) ?? message
  if (said.startsWith('{') && said.includes('<*>')) return recordWith(said)
  const line = wordsOfLine(withoutFrames(withoutWrapping(said).slice(0, MAX_LINE)))
    .replaceAll(/\s+/g, ' ')
    .trim()
  if (line === '') return 'a record without a message'
  return `“${aroundReason(line)}”`
}

/** Without the frames of a stack trace behind the first line. */
function withoutFrames(message: string): string {
  if (!message.includes('\n')) return message
  const [first = '', ...lines] = message.split('\n')
  return [first, ...lines.filter(line => !isStackFrame(line))].join('\n')
}

/** At most `MAX_QUOTE` characters: the start of a line, and where a reason stands further behind, that with the words around it. */
function aroundReason(line: string): string {
  const reason = line.length > MAX_QUOTE ? (reasonIn(line) ?? innermost(line)) : undefined
  if (reason === undefined || reason.to < MAX_QUOTE) return shortened(line, MAX_QUOTE)
  const opening = wholeWords(line.slice(0, MAX_OPENING))
  const room = MAX_QUOTE - opening.length - 3
  const before = reason.to - reason.from + BEFORE_REASON > room ? 0 : BEFORE_REASON
  const earliest = Math.max(Math.min(reason.from - before, line.length - room), opening.length)
  const from = line.indexOf(' ', earliest) + 1
  const start = from > 0 && from <= reason.from ? from : reason.from
  return `${opening} … ${shortened(line.slice(start), room)}`.toWellFormed()
}

/** The name of an exception, before its words. */
const EXCEPTION = /[\w.$]{1,120}(?:Exception|Error)(?=: )/g

/** Callers put their words before those of the error that they pass on: the cause stands behind the name of the last exception, else behind the last colon. */
function innermost(line: string): ReturnType<typeof reasonIn> {
  const named = [...line.matchAll(EXCEPTION)].at(-1)
  if (named !== undefined) return { from: named.index, to: line.length }
  const from = line.lastIndexOf(': ') + 2
  const words = line.startsWith('http', from) ? 0 : (line.slice(from).match(/\p{L}{2,}/gu)?.length ?? 0)
  return from > 1 && words >= MIN_INNERMOST ? { from, to: line.length } : undefined
}

/** The words before the last blank. */
function wholeWords(text: string): string {
  const end = text.lastIndexOf(' ')
  return end > 0 ? text.slice(0, end) : text
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

/** `a`, `a and b`, `a, b and c`. */
export function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** `08:52:06 UTC`. */
export function clockTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 19)} UTC`
}

/** One decimal below 100, none above. */
export function rounded(value: number): number {
  return value < 100 ? Math.round(value * 10) / 10 : Math.round(value)
}

/** `480 ms`, `2.1 s`. */
export function duration(ms: number): string {
  return ms < 1_000 ? `${rounded(ms)} ms` : `${rounded(ms / 1_000)} s`
}
