/** The words of a message that is a JSON object: what its fields for messages and errors say, instead of braces and quotes (Decisions 6). */
import { maskMessage } from './pattern.ts'
import { withoutTerminalCodes } from './terminal-codes.ts'

/** Longer bodies are not taken apart. */
const MAX_CHARACTERS = 16_384
const MAX_DEPTH = 4
const MAX_TEXT = 1_024
/** Fields that loggers use, in the order in which people read them. */
const TEXT_KEYS = [
  'message',
  'msg',
  '@message',
  'log',
  'event',
  'error',
  'error.message',
  'error.url',
  'err',
  'exception',
  'exc_info',
  'cause',
  'detail',
  'reason',
] as const
/** Fields with an error of its own, in which an address is the one that was asked. */
const ERROR_KEYS: ReadonlySet<string> = new Set(['error', 'err', 'exception', 'cause'])
/** Parts are read in this order, with this between them. */
const BETWEEN = ': '

/**
 * Time, level, thread and logger before the words of a line: `2026-03-03 04:00:01 ERROR [main] com.shop.Orders: `. Spring Boot writes
 * `ERROR 1 --- [main] o.s.Class : `.
 */
const HEAD =
  /^.{0,100}?\b(?:ERROR|SEVERE|CRITICAL|CRIT|FATAL|PANIC|EMERG|error|crit)\b[\])]?:?\s+(?:(?:\d{1,10}|<\*>)\s{1,10}---\s{1,10}(?:\[[^\]]{0,80}\]\s{0,10}){0,4}\S{1,100}\s{0,50}:\s+|(?:[[(][^\])]{0,80}[\])]:?\s*)*(?:-\s+)?(?:[\w.$-]{1,100}\s+-\s+|[\w$-]{1,40}(?:\.[\w$-]{1,60}){1,8}:?\s+)?)/s
/** Words before a level that belong to the message, not to the head of a line. */
const PROSE = /[a-z]{2,} [a-z]{2,}/

/** A line without its head; one whose first words are prose, as it is. */
export function withoutHead(line: string): string {
  const head = HEAD.exec(line)?.[0] ?? ''
  return head === '' || head.length === line.length || PROSE.test(head) ? line : line.slice(head.length)
}

/** A message that is no JSON object, or one without such a field, as it is but for the colours of a terminal. */
export function readableText(message: string): string {
  const start = message.slice(0, MAX_TEXT).trimStart()
  if (!start.startsWith('{') || message.length > MAX_CHARACTERS)
    return withoutTerminalCodes(message.slice(0, 2 * MAX_TEXT))
      .slice(0, MAX_TEXT)
      .toWellFormed()
  const texts = new Set<string>()
  try {
    collect(JSON.parse(message), texts, 0)
  } catch {
    // Text that only looks like JSON.
  }
  return withoutTerminalCodes(texts.size === 0 ? message : [...texts].join(BETWEEN))
    .slice(0, MAX_TEXT)
    .toWellFormed()
}

/** The words of a message whose pattern is that of a JSON object and says nothing, masked as patterns are; undefined for other patterns. */
export function wordsOfJson(pattern: string, message: string): string | undefined {
  return pattern.startsWith('{') ? maskMessage(readableText(message)) : undefined
}

function collect(value: unknown, texts: Set<string>, depth: number, isOfError = false): void {
  if (typeof value === 'string') {
    // The message often holds the text of its error.
    if (value.trim() !== '' && ![...texts].some(text => text.includes(value))) texts.add(value)
    return
  }
  if (depth >= MAX_DEPTH || typeof value !== 'object' || value === null || Array.isArray(value)) return
  const fields = value as Readonly<Record<string, unknown>>
  for (const key of TEXT_KEYS) collect(fields[key], texts, depth + 1, ERROR_KEYS.has(key))
  if (isOfError) collect(fields['url'], texts, depth + 1)
}
