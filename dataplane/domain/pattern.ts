import { hash } from 'node:crypto'

/** What stands in a pattern for a variable part. */
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
/** Between digits they belong to the same number, date, time or address. */
const JOINER = 8
/** Something may start here that is masked and is no word: a quoted string, a signed number, an IPv6 address. */
const OPENER = 16

/** What each ASCII character is; everything beyond is nothing of this. */
const CLASS = new Uint8Array(128)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  if (/[0-9]/.test(char)) CLASS[code] = DIGIT
  else if (/[a-f]/i.test(char)) CLASS[code] = HEX_LETTER
  else if (/[a-z]/i.test(char)) CLASS[code] = LETTER
  else CLASS[code] = (/[,\-./:]/.test(char) ? JOINER : 0) | (/["'`+\-:]/.test(char) ? OPENER : 0)
}

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
const LOWER_T = 116
const UPPER_X = 88
const UPPER_Z = 90
const LOWER_X = 120
const LOWER_Z = 122

/** The message under work as UTF-16 code units with a 0 after the last: an array is read faster than a string. */
const units = new Uint16Array(MAX_PATTERN_INPUT + 1)
const unitBytes = Buffer.from(units.buffer)

function classAt(at: number): number {
  const code = units[at]!
  return code < 128 ? CLASS[code]! : 0
}

/**
 * The message with numbers, hex, UUIDs, addresses, quoted strings and timestamps masked. One pass without regular
 * expressions, as every record goes through it. Masking a masked message changes nothing.
 */
export function maskMessage(message: string): string {
  const text = message.length > MAX_PATTERN_INPUT ? cut(message) : message
  const length = text.length
  unitBytes.write(text, 'utf16le')
  units[length] = 0
  let masked = ''
  let copied = 0
  let at = 0
  while (at < length) {
    const code = units[at]!
    const kind = code < 128 ? CLASS[code]! : 0
    if ((kind & (WORD | OPENER)) === 0) {
      at++
      continue
    }
    const end = (kind & OPENER) !== 0 ? endOfSpecial(at, code, length) : endOfWord(at)
    if (end > 0) {
      masked += text.slice(copied, at) + MASK
      at = copied = end
    } else if (end < 0) at = -end
    else {
      // A word of which only the digits are masked.
      for (; (classAt(at) & DIGIT) === 0; at++);
      masked += text.slice(copied, at) + MASK
      while ((classAt(at) & DIGIT) !== 0) at++
      copied = at
      while ((classAt(at) & WORD) !== 0) at++
    }
  }
  return copied === 0 ? text : masked + text.slice(copied)
}

/** `endOf…` functions answer where the masked part ends, or where the part that stays ends, negated, or: only the digits in the word. */
const ONLY_DIGITS = 0

/** Cuts without splitting a surrogate pair. */
function cut(message: string): string {
  const last = message.charCodeAt(MAX_PATTERN_INPUT - 1)
  return message.slice(0, last >= 0xd800 && last < 0xdc00 ? MAX_PATTERN_INPUT - 1 : MAX_PATTERN_INPUT)
}

function endOfSpecial(at: number, code: number, length: number): number {
  const stays = -(at + 1)
  if (code === DOUBLE_QUOTE || code === BACKTICK) return endOfQuoted(at, code, length)
  if (code === SINGLE_QUOTE) return isWordLike(at - 1, GREATER) ? stays : endOfQuoted(at, code, length)
  if (code === COLON) return units[at + 1] === COLON ? endOfColonGroups(at) || stays : stays
  if ((classAt(at + 1) & DIGIT) === 0 || isWordLike(at - 1, GREATER)) return stays
  const end = endOfWord(at + 1)
  return end > 0 ? end : stays
}

/** A letter, a digit, or the side of a mask (`<` or `>`) that stands for one. */
function isWordLike(at: number, maskSide: number): boolean {
  return at >= 0 && ((classAt(at) & WORD) !== 0 || units[at] === maskSide)
}

function endOfQuoted(at: number, quote: number, length: number): number {
  let end = at + 1
  while (end < length && !closes(at, end, quote)) end++
  if (end === length) return -(at + 1)
  // A JSON key says what kind of message this is: it stays.
  return units[end + 1] === COLON && isPlainKey(at + 1, end) ? -(end + 1) : end + 1
}

function closes(at: number, end: number, quote: number): boolean {
  if (units[end] !== quote) return false
  if (units[end - 1] === BACKSLASH && end - 1 > at) return false
  return quote !== SINGLE_QUOTE || !isWordLike(end + 1, LESS)
}

/** `_` `-` `.` `@` `$` */
const KEY_MARKS: ReadonlySet<number> = new Set([95, MINUS, 46, 64, 36])

function isPlainKey(from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    const kind = classAt(at)
    if ((kind & DIGIT) !== 0 || ((kind & WORD) === 0 && !KEY_MARKS.has(units[at]!))) return false
  }
  return end > from
}

/** Shorter runs of hex digits are taken for words with a number in them. */
const MIN_HEX = 6

/** At the first character of a run of letters and digits. */
function endOfWord(from: number): number {
  let at = from
  let digitRuns = 0
  let seen = 0
  let previous = 0
  for (; ; at++) {
    const kind = classAt(at) & WORD
    if (kind === 0) break
    seen |= kind
    if (kind === DIGIT && previous !== DIGIT) digitRuns++
    previous = kind
  }
  const isHex = (seen & LETTER) === 0
  if (isHex) {
    const next = units[at]
    if (next === MINUS && at - from === 8 && isUuid(from)) return from + 36
    const end = next === COLON ? endOfColonGroups(from) : 0
    if (end > 0) return endOfNumber(end)
  }
  if (digitRuns === 0) return -at
  if (seen === DIGIT) return endOfNumber(at)
  return digitRuns > 1 || (isHex && at - from >= MIN_HEX) || isPrefixedHex(from, at) ? at : ONLY_DIGITS
}

function isPrefixedHex(from: number, end: number): boolean {
  if (end - from < 3 || units[from] !== ZERO || (units[from + 1] !== UPPER_X && units[from + 1] !== LOWER_X)) return false
  for (let at = from + 2; at < end; at++) if ((classAt(at) & LETTER) !== 0) return false
  return true
}

/** After a run of digits: takes in the digits joined to it, so that a decimal, a date, a time, an IPv4 address is one. */
function endOfNumber(end: number): number {
  let at = end
  while ((classAt(at) & JOINER) !== 0 && (classAt(at + 1) & DIGIT) !== 0) {
    at = endOfDigits(at + 1)
    const after = units[at]
    if ((after === UPPER_T || after === LOWER_T) && (classAt(at + 1) & DIGIT) !== 0) at = endOfDigits(at + 1)
    if ((units[at] === UPPER_Z || units[at] === LOWER_Z) && (classAt(at + 1) & WORD) === 0) return at + 1
  }
  return at
}

function endOfDigits(from: number): number {
  let at = from
  while ((classAt(at) & DIGIT) !== 0) at++
  return at
}

function isUuid(from: number): boolean {
  for (let i = 9; i < 36; i++) {
    if (i === 13 || i === 18 || i === 23) {
      if (units[from + i] !== MINUS) return false
    } else if ((classAt(from + i) & (DIGIT | HEX_LETTER)) === 0) return false
  }
  return (classAt(from + 36) & WORD) === 0
}

/** IPv6 and MAC addresses, times of day: at least two colons, groups of at most four hex digits, a digit somewhere; 0 when it is none. */
function endOfColonGroups(from: number): number {
  let at = from
  let colons = 0
  let group = 0
  let hasDigit = false
  for (; ; at++) {
    const kind = classAt(at)
    if ((kind & (DIGIT | HEX_LETTER)) !== 0) {
      hasDigit ||= kind === DIGIT
      if (++group > 4) return 0
    } else if (units[at] === COLON) {
      colons++
      group = 0
    } else if ((kind & LETTER) !== 0) return 0
    else break
  }
  return colons >= 2 && hasDigit && group > 0 ? at : 0
}
