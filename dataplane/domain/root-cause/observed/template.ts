/** Which log statement a record comes from: its call site where it names one, else the first words of its message (Decisions 6). */
import { withoutHead } from '../../records/line-head.ts'
import { wordsOfPattern } from '../../records/pattern-words.ts'
import { withoutTerminalCodes } from '../../records/terminal-codes.ts'

/** Attribute keys that name a call site, by what they give. OpenTelemetry's semantic conventions, old and new, and what appenders send. */
const FILE_KEYS = ['code.file.path', 'code.filepath'] as const
const LINE_KEYS = ['code.line.number', 'code.lineno'] as const
const FUNCTION_KEYS = ['code.function.name', 'code.function'] as const
const LOGGER_KEYS = ['code.logger', 'logger.name', 'code.namespace'] as const

/** Attributes that `buildTemplate` looks at. */
export const CALL_SITE_KEYS: readonly string[] = [...FILE_KEYS, ...LINE_KEYS, ...FUNCTION_KEYS, ...LOGGER_KEYS]

/** Words of a message that tell its statement; what follows is mostly values. */
const WORDS = 8
/** Characters of a message, or of a call site, that are looked at. */
const MAX_CHARACTERS = 400

/** `words` are the first ones of its message; `attribute` gives an attribute's value by its original key. The time that it takes is bounded by `MAX_CHARACTERS`. */
export function buildTemplate(words: string, attribute: (key: string) => unknown): string {
  const logger = firstOf(LOGGER_KEYS, attribute)
  const file = firstOf(FILE_KEYS, attribute)
  const line = firstOf(LINE_KEYS, attribute)
  if (line !== '' && (file !== '' || logger !== '')) return `${file || logger}#${line}`
  if (endsWithLine(logger)) return logger
  const place = [logger || file, firstOf(FUNCTION_KEYS, attribute)].filter(part => part !== '').join('#')
  return place === '' ? words : `${place} ${words}`
}

function firstOf(keys: readonly string[], attribute: (key: string) => unknown): string {
  for (const key of keys) {
    const value = attribute(key)
    if (typeof value === 'string' && value !== '') return value.slice(0, MAX_CHARACTERS)
    if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  }
  return ''
}

/** `OrderService#35`, `orders.py:35`. */
function endsWithLine(site: string): boolean {
  let at = site.length
  while (at > 0 && isDigit(site.charCodeAt(at - 1))) at--
  return at > 0 && at < site.length && (site[at - 1] === '#' || site[at - 1] === ':')
}

/** The words by which a statement is known: the first ones behind the head that a logger wrote. */
export function statementWords(pattern: string): string {
  return firstWords(withoutHead(withoutTerminalCodes(wordsOfPattern(pattern) ?? pattern)))
}

/** The first words of a message, each with a digit or a mask in it as `*`. */
export function firstWords(message: string): string {
  const end = Math.min(message.length, MAX_CHARACTERS)
  const words: string[] = []
  let at = 0
  while (words.length < WORDS) {
    while (at < end && !isWordPart(message.charCodeAt(at))) at++
    if (at >= end) break
    const start = at
    let isValue = false
    for (; at < end && isWordPart(message.charCodeAt(at)); at++) isValue ||= isValueMark(message.charCodeAt(at))
    const word = isValue ? '*' : message.slice(start, at)
    if (word !== '*' || words.at(-1) !== '*') words.push(word)
  }
  return words.join(' ').toWellFormed()
}

const isDigit = (code: number) => code >= 48 && code <= 57
/** `*` `<` `>`: the mask of a pattern. */
const isMask = (code: number) => code === 42 || code === 60 || code === 62
const isValueMark = (code: number) => isDigit(code) || isMask(code)

/** Letters, digits, `_`, the mask; all that is beyond ASCII, since not every language has spaces. */
function isWordPart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code > 127 || isValueMark(code)
}
