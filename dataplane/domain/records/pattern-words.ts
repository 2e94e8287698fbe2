/** The words of a pattern of a JSON object: what its fields for messages and errors say (Decisions 4, 6). */
import { ERROR_KEYS, MASK, MESSAGE_KEYS } from './pattern.ts'

const alternatives = (keys: readonly string[]) => keys.map(key => key.replaceAll('.', '\\.')).join('|')
/** A pattern is cut: the last value may lack its end. */
const FIELD = new RegExp(`"(?:(${alternatives(MESSAGE_KEYS)})|(?:${alternatives(ERROR_KEYS)}))": ?"((?:[^"\\\\]|\\\\.)*)(?:"|$)`, 'gi')
/** The message of an error stands in an object of its own, near its start. */
const WITHIN_ERROR = /"(?:error|err|exception)": ?\{[^{}]*$/i
const MAX_BETWEEN = 120
/** Frames of Python stand before the exception, on lines that are masked. */
const TRACEBACK = /^Traceback \(most recent call last\):?/
const ESCAPE = /\\(.)/g
const WITHIN = /[\p{L}\p{N}]/u

/** Undefined for other patterns, and where all is masked that its fields say. The message comes before its error. */
export function wordsOfPattern(pattern: string): string | undefined {
  if (!pattern.startsWith('{')) return undefined
  const messages: string[] = []
  const errors: string[] = []
  for (const { 1: messageKey, 2: value, index } of pattern.matchAll(FIELD)) {
    const text = value!.replace(TRACEBACK, '').replaceAll(ESCAPE, (_, char: string) => ('ntr'.includes(char) ? ' ' : char))
    const isOfError = messageKey === undefined || WITHIN_ERROR.test(pattern.slice(Math.max(0, index - MAX_BETWEEN), index))
    const said = isOfError ? errors : messages
    if (WITHIN.test(text.replaceAll(MASK, '')) && ![...messages, ...errors].some(other => other.includes(text))) said.push(text.trim())
  }
  return messages.length + errors.length === 0 ? undefined : [...messages, ...errors].join(': ')
}
