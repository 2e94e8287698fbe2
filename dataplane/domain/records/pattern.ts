/** The pattern of a message: its variable parts masked (Decisions 4). */
import { hash } from 'node:crypto'

/** The sign in a pattern for a variable part. */
export const MASK = '<*>'

/** Longer messages are masked up to here: the start tells their kind, and costs are bounded. */
export const MAX_PATTERN_INPUT = 1_024

/** A masked message and its id: equal messages of any process agree (Decisions 4). */
export interface MessagePattern {
  /** 16 hex digits. */
  readonly id: string
  readonly text: string
}

export function buildPattern(message: string): MessagePattern {
  const text = maskMessage(message)
  return { id: patternId(text), text }
}

/** 16 hex digits of a masked text. */
export function patternId(text: string): string {
  return hash('sha1', text, 'hex').slice(0, 16)
}

const DIGIT = 1
const LETTER = 2
/** a to f, of either case. */
const HEX_LETTER = 4
const WORD = DIGIT | LETTER | HEX_LETTER
/** Characters that join the digits around them to one number, date, time or address. */
const JOINER = 8
/** Something may start here that is masked and is no word: a quoted string, a signed number, an IPv6 address, a line behind the first of a JSON text. */
const OPENER = 16

/** The class of each byte of a text; bytes beyond ASCII have none. */
const CLASS = new Uint8Array(256)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  if (/[0-9]/.test(char)) CLASS[code] = DIGIT
  else if (/[a-f]/i.test(char)) CLASS[code] = HEX_LETTER
  else if (/[a-z]/i.test(char)) CLASS[code] = LETTER
  else CLASS[code] = (/[,\-./:]/.test(char) ? JOINER : 0) | (/["'`+\-:\\]/.test(char) ? OPENER : 0)
}

const BLANK = 32
const DOUBLE_QUOTE = 34
const SINGLE_QUOTE = 39
const MINUS = 45
const ZERO = 48
const COLON = 58
const LESS = 60
const GREATER = 62
const BACKSLASH = 92
const BACKTICK = 96
const UPPER_T = 84
const LOWER_N = 110
const LOWER_S = 115
const LOWER_T = 116
const UPPER_X = 88
const UPPER_Z = 90
const LOWER_X = 120
const LOWER_Z = 122
const BRACE = 123

/** A message with a byte per UTF-16 code unit, and a 0 after the last; what is beyond ASCII is all the same here. */
const units = new Uint8Array(MAX_PATTERN_INPUT + 1)
const BEYOND_ASCII = 128

/** The message with numbers, hex, UUIDs, addresses, quoted strings and timestamps masked. Masking a masked message changes nothing. */
export function maskMessage(message: string): string {
  const text = message.length > MAX_PATTERN_INPUT ? cut(message) : message
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    units[i] = code < BEYOND_ASCII ? code : BEYOND_ASCII
  }
  units[text.length] = 0
  const count = findMasked(units, 0, text.length)
  let masked = ''
  let copied = 0
  for (let i = 0; i < count; i++) {
    masked += text.slice(copied, maskedRanges[2 * i]!) + MASK
    copied = maskedRanges[2 * i + 1]!
  }
  return copied === 0 ? text : masked + text.slice(copied)
}

/** Cuts without splitting a surrogate pair. */
function cut(message: string): string {
  const last = message.charCodeAt(MAX_PATTERN_INPUT - 1)
  return message.slice(0, last >= 0xd800 && last < 0xdc00 ? MAX_PATTERN_INPUT - 1 : MAX_PATTERN_INPUT)
}

/** As `maskMessage` cuts a message, for UTF-8: where the part that is masked ends. */
export function endOfPatternInput(text: Uint8Array, from: number, to: number): number {
  if (to - from <= MAX_PATTERN_INPUT) return to
  let length = 0
  for (let at = from; at < to; at++) {
    const code = text[at]!
    if (code >= 0xf0) length += 2
    else if (code < 0x80 || code >= 0xc0) length++
    if (length > MAX_PATTERN_INPUT) return at
  }
  return to
}

/** The parts that `findMasked` found last: start and end by turns. */
export const maskedRanges = new Int32Array(2 * MAX_PATTERN_INPUT)

/** Those of them that may hold words: their number, then start and end by turns. All others hold no letter beyond `f`, and none that is part of a word. */
export const wordRanges = new Int32Array(1 + 2 * MAX_PATTERN_INPUT)
/** The part that was looked at last holds letters beyond `f`. */
let holdsWords = false

/** The text begins as a JSON object. */
let isJson = false
/** Where the value ends whose words stay, at its closing quote; before the place that is looked at where there is none. */
let wordsEnd = -1

/**
 * Finds what is masked between `from` and `to`, at most `MAX_PATTERN_INPUT` characters, and returns how many parts there are. One pass without
 * regular expressions, as every record goes through it. Works on UTF-8 as well as on a byte per character; there must be a 0 at `to`.
 */
export function findMasked(text: Uint8Array, from: number, to: number): number {
  let found = 0
  let words = 0
  let at = from
  isJson = text[from] === BRACE
  wordsEnd = from - 1
  while (at < to) {
    const code = text[at]!
    const kind = CLASS[code]!
    if ((kind & (WORD | OPENER)) === 0) {
      at++
      continue
    }
    if ((kind & (LETTER | HEX_LETTER)) !== 0) {
      // Most words have no digits and stay; one in hex may yet be the start of an address or a UUID.
      const end = endOfLetters(text, at + 1)
      if ((classOf(text, end) & (kind === LETTER ? DIGIT : DIGIT | JOINER)) === 0) {
        at = end
        continue
      }
    }
    holdsWords = false
    let start = at
    let end = (kind & OPENER) !== 0 ? endOfSpecial(text, from, at, code, to) : endOfWord(text, at)
    if (end < 0) {
      at = -end
      continue
    }
    if (end === ONLY_DIGITS) {
      while ((classOf(text, start) & DIGIT) === 0) start++
      end = endOfDigits(text, start)
      at = end
      while ((classOf(text, at) & WORD) !== 0) at++
    } else at = end
    maskedRanges[2 * found] = start
    maskedRanges[2 * found + 1] = end
    found++
    if (holdsWords) {
      wordRanges[2 * words + 1] = start
      wordRanges[2 * words + 2] = end
      words++
    }
  }
  wordRanges[0] = words
  return found
}

function endOfLetters(text: Uint8Array, from: number): number {
  let at = from
  while ((classOf(text, at) & (LETTER | HEX_LETTER)) !== 0) at++
  return at
}

function classOf(text: Uint8Array, at: number): number {
  return CLASS[text[at]!]!
}

/** `endOf…` functions answer where the masked part ends, or where the part that stays ends, negated, or: only the digits in the word. */
const ONLY_DIGITS = 0

function endOfSpecial(text: Uint8Array, from: number, at: number, code: number, to: number): number {
  const stays = -(at + 1)
  if (at <= wordsEnd && (code === DOUBLE_QUOTE || code === BACKSLASH)) return endWithinWords(text, at, code)
  if (code === BACKSLASH) return stays
  if (code === DOUBLE_QUOTE) return endOfQuoted(text, at, code, to)
  if (code === BACKTICK) return endOfQuoted(text, at, code, at < wordsEnd ? wordsEnd : to)
  if (code === SINGLE_QUOTE)
    return at > from && isWordLike(text, at - 1, GREATER) ? stays : endOfQuoted(text, at, code, at < wordsEnd ? wordsEnd : to)
  if (code === COLON) return text[at + 1] === COLON ? endOfColonGroups(text, at) || stays : stays
  if ((classOf(text, at + 1) & DIGIT) === 0 || (at > from && isWordLike(text, at - 1, GREATER))) return stays
  const end = endOfWord(text, at + 1)
  return end > 0 ? end : stays
}

/** A letter, a digit, or the side of a mask (`<` or `>`) that stands for one. */
function isWordLike(text: Uint8Array, at: number, maskSide: number): boolean {
  return (classOf(text, at) & WORD) !== 0 || text[at] === maskSide
}

function endOfQuoted(text: Uint8Array, at: number, quote: number, to: number): number {
  let end = at + 1
  while (end < to && !closes(text, at, end, quote)) end++
  if (end === to) return -(at + 1)
  // A JSON key says what kind of message this is: it stays.
  if (text[end + 1] === COLON && text[end + 2] !== COLON && isPlainKey(text, at + 1, end))
    return -(
      (hasKey(LEVEL_KEYS_BY_LENGTH, text, at + 1, end) && endOfLevel(text, end + 2)) ||
      (isTypeKey(text, at + 1, end) && endOfWarning(text, end + 2)) ||
      (isMongoKey(text, at + 1, end) && endOfMongoLevel(text, end + 2)) ||
      (isJson && hasKey(WORDS_KEYS, text, at + 1, end) && startOfWords(text, end + 2, to)) ||
      end + 1
    )
  holdsWords = true
  return end + 1
}

function closes(text: Uint8Array, at: number, end: number, quote: number): boolean {
  if (text[end] !== quote) return false
  if (text[end - 1] === BACKSLASH && end - 1 > at) return false
  return quote !== SINGLE_QUOTE || !isWordLike(text, end + 1, LESS)
}

/** `_` `-` `.` `@` `$` */
const KEY_MARKS: ReadonlySet<number> = new Set([95, MINUS, 46, 64, 36])

function isPlainKey(text: Uint8Array, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    const kind = classOf(text, at)
    if ((kind & DIGIT) !== 0 || ((kind & WORD) === 0 && !KEY_MARKS.has(text[at]!))) return false
  }
  return end > from
}

/** Keys under which loggers write the level of a record: it stays with its key, since errors are told by it where a record has no severity. */
const LEVEL_KEYS = 'lvl @l level @level levelname loglevel log.level log_level severity severitytext severity_text'.split(' ')
/** Makes letters small, and leaves `.`; other marks lose a bit in keys and texts alike. */
const SMALL = 0x20
const byLength = (keys: readonly string[]) =>
  Map.groupBy(
    keys.map(key => Uint8Array.from(key, char => char.charCodeAt(0) | SMALL)),
    ({ length }) => length,
  )
const LEVEL_KEYS_BY_LENGTH = byLength(LEVEL_KEYS)
/** Keys under which loggers write what happened, and keys under which they write the error beside it. */
export const MESSAGE_KEYS = 'message msg @message short_message event log @m renderedmessage @mt messagetemplate'.split(' ')
export const ERROR_KEYS = 'error err error.message exception exception.message @x'.split(' ')
const WORDS_KEYS = byLength([...MESSAGE_KEYS, ...ERROR_KEYS])

function hasKey(keys: typeof WORDS_KEYS, text: Uint8Array, from: number, end: number): boolean {
  for (const key of keys.get(end - from) ?? []) {
    let at = 0
    while (at < key.length && (text[from + at]! | SMALL) === key[at]) at++
    if (at === key.length) return true
  }
  return false
}

/** Behind the colon of a key for words: where the words of its text begin, which are masked as those of a message are; 0 for other values. */
function startOfWords(text: Uint8Array, from: number, to: number): number {
  const at = text[from] === BLANK ? from + 1 : from
  if (text[at] !== DOUBLE_QUOTE) return 0
  let end = at + 1
  while (end < to && text[end] !== DOUBLE_QUOTE) end += text[end] === BACKSLASH ? 2 : 1
  wordsEnd = Math.min(end, to)
  return at + 1
}

/** At a quote or a backslash within such a text, or at its end: what is quoted is masked, as are the lines behind the first. */
function endWithinWords(text: Uint8Array, at: number, code: number): number {
  if (code === DOUBLE_QUOTE || at === wordsEnd) return -(at + 1)
  if (text[at + 1] === LOWER_N) {
    holdsWords = true
    return wordsEnd
  }
  if (text[at + 1] !== DOUBLE_QUOTE) return -(at + 2)
  let end = at + 2
  while (end < wordsEnd && !(text[end] === BACKSLASH && text[end + 1] === DOUBLE_QUOTE)) end += text[end] === BACKSLASH ? 2 : 1
  if (end >= wordsEnd) return -(at + 2)
  holdsWords = true
  return end + 2
}

/** An event of Kubernetes tells by this that something is wrong: `"type":"Warning"`. Other values are masked. */
const WARNING = Buffer.from('"Warning"')
const TYPE = Buffer.from('type')

const isTypeKey = (text: Uint8Array, from: number, end: number) => end - from === TYPE.length && startsWith(text, from, TYPE)

function startsWith(text: Uint8Array, from: number, word: Uint8Array): boolean {
  let at = 0
  while (at < word.length && text[from + at] === word[at]) at++
  return at === word.length
}

/** Behind the colon of `type`: the end of `"Warning"`; 0 for other values. */
function endOfWarning(text: Uint8Array, from: number): number {
  const at = text[from] === BLANK ? from + 1 : from
  return startsWith(text, at, WARNING) ? at + WARNING.length : 0
}

/** MongoDB tells its level by a letter: `"s":"E"`. Other values are masked. */
const isMongoKey = (text: Uint8Array, from: number, end: number) => end - from === 1 && text[from] === LOWER_S
const MONGO_LEVELS: ReadonlySet<number> = new Set(Buffer.from('FEWID'))

/** Behind the colon of `s`: the end of one of the letters in quotes; 0 for other values. */
function endOfMongoLevel(text: Uint8Array, from: number): number {
  const at = text[from] === BLANK ? from + 1 : from
  return text[at] === DOUBLE_QUOTE && MONGO_LEVELS.has(text[at + 1]!) && text[at + 2] === DOUBLE_QUOTE ? at + 3 : 0
}

/** Letters of `information`. */
const MAX_LEVEL = 11
const ONE = 49
const SIX = 54

/** Behind the colon of a key for levels: the end of a word in quotes, or of one of the numbers 10, 20 to 60 of pino and bunyan; 0 for other values. */
function endOfLevel(text: Uint8Array, from: number): number {
  const at = text[from] === BLANK ? from + 1 : from
  if (text[at] === DOUBLE_QUOTE) {
    const end = endOfLetters(text, at + 1)
    return text[end] === DOUBLE_QUOTE && end > at + 1 && end <= at + 1 + MAX_LEVEL ? end + 1 : 0
  }
  const end = at + 2
  if (!(text[at]! >= ONE && text[at]! <= SIX && text[at + 1] === ZERO) || (classOf(text, end) & WORD) !== 0) return 0
  return (classOf(text, end) & JOINER) !== 0 && (classOf(text, end + 1) & DIGIT) !== 0 ? 0 : end
}

/** Shorter runs of hex digits are taken for words with a number in them. */
const MIN_HEX = 6

/** At the first character of a run of letters and digits. */
function endOfWord(text: Uint8Array, from: number): number {
  let at = from
  let digitRuns = 0
  let seen = 0
  let previous = 0
  for (; ; at++) {
    const kind = classOf(text, at) & WORD
    if (kind === 0) break
    seen |= kind
    if (kind === DIGIT && previous !== DIGIT) digitRuns++
    previous = kind
  }
  const isHex = (seen & LETTER) === 0
  if (isHex) {
    const next = text[at]
    if (next === MINUS && at - from === 8 && isUuid(text, from)) return from + 36
    const end = next === COLON ? endOfColonGroups(text, from) : 0
    if (end > 0) return endOfNumber(text, end)
  }
  if (digitRuns === 0) return -at
  if (seen === DIGIT) return endOfNumber(text, at)
  if (digitRuns <= 1 && !(isHex && at - from >= MIN_HEX) && !isPrefixedHex(text, from, at)) return ONLY_DIGITS
  holdsWords = !isHex
  return at
}

function isPrefixedHex(text: Uint8Array, from: number, end: number): boolean {
  if (end - from < 3 || text[from] !== ZERO || (text[from + 1] !== UPPER_X && text[from + 1] !== LOWER_X)) return false
  for (let at = from + 2; at < end; at++) if ((classOf(text, at) & LETTER) !== 0) return false
  return true
}

/** After a run of digits: takes in the digits joined to it, so that a decimal, a date, a time, an IPv4 address is one. */
function endOfNumber(text: Uint8Array, end: number): number {
  let at = end
  while ((classOf(text, at) & JOINER) !== 0 && (classOf(text, at + 1) & DIGIT) !== 0) {
    at = endOfDigits(text, at + 1)
    const after = text[at]
    if ((after === UPPER_T || after === LOWER_T) && (classOf(text, at + 1) & DIGIT) !== 0) at = endOfDigits(text, at + 1)
    if ((text[at] === UPPER_Z || text[at] === LOWER_Z) && (classOf(text, at + 1) & WORD) === 0) return at + 1
  }
  return at
}

function endOfDigits(text: Uint8Array, from: number): number {
  let at = from
  while ((classOf(text, at) & DIGIT) !== 0) at++
  return at
}

function isUuid(text: Uint8Array, from: number): boolean {
  for (let i = 9; i < 36; i++) {
    if (i === 13 || i === 18 || i === 23) {
      if (text[from + i] !== MINUS) return false
    } else if ((classOf(text, from + i) & (DIGIT | HEX_LETTER)) === 0) return false
  }
  return (classOf(text, from + 36) & WORD) === 0
}

/** IPv6 and MAC addresses, times of day: at least two colons, groups of at most four hex digits, a digit somewhere; 0 when it is none. */
function endOfColonGroups(text: Uint8Array, from: number): number {
  let at = from
  let colons = 0
  let group = 0
  let hasDigit = false
  for (; ; at++) {
    const kind = classOf(text, at)
    if ((kind & (DIGIT | HEX_LETTER)) !== 0) {
      hasDigit ||= kind === DIGIT
      if (++group > 4) return 0
    } else if (text[at] === COLON) {
      colons++
      group = 0
    } else if ((kind & LETTER) !== 0) return 0
    else break
  }
  return colons >= 2 && hasDigit && group > 0 ? at : 0
}
