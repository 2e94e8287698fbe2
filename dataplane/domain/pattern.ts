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
const COLON = 58
const LESS = 60
const GREATER = 62
const BACKSLASH = 92
const BACKTICK = 96
const UPPER_T = 84
const LOWER_T = 116
const UPPER_Z = 90
const LOWER_Z = 122

function classAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  // Past the end it is NaN, which compares false as well.
  return code < 128 ? CLASS[code]! : 0
}

/**
 * The message with numbers, hex, UUIDs, addresses, quoted strings and timestamps masked. One pass without regular
 * expressions, as every record goes through it. Masking a masked message changes nothing.
 */
export function maskMessage(message: string): string {
  const text = message.length > MAX_PATTERN_INPUT ? cut(message) : message
  const length = text.length
  let masked = ''
  let copied = 0
  let at = 0
  while (at < length) {
    const code = text.charCodeAt(at)
    const kind = code < 128 ? CLASS[code]! : 0
    if ((kind & (WORD | OPENER)) === 0) {
      at++
      continue
    }
    const end = (kind & OPENER) !== 0 ? endOfSpecial(text, at, code) : endOfWord(text, at)
    if (end > 0) {
      masked += text.slice(copied, at) + MASK
      at = copied = end
    } else if (end < 0) at = -end
    else {
      // A word of which only the digits are masked.
      for (; (classAt(text, at) & DIGIT) === 0; at++);
      masked += text.slice(copied, at) + MASK
      while ((classAt(text, at) & DIGIT) !== 0) at++
      copied = at
      while ((classAt(text, at) & WORD) !== 0) at++
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

function endOfSpecial(text: string, at: number, code: number): number {
  const stays = -(at + 1)
  if (code === DOUBLE_QUOTE || code === BACKTICK) return endOfQuoted(text, at, code)
  if (code === SINGLE_QUOTE) return isWordLike(text, at - 1, GREATER) ? stays : endOfQuoted(text, at, code)
  if (code === COLON) return text.charCodeAt(at + 1) === COLON ? endOfColonGroups(text, at) || stays : stays
  if ((classAt(text, at + 1) & DIGIT) === 0 || isWordLike(text, at - 1, GREATER)) return stays
  const end = endOfWord(text, at + 1)
  return end > 0 ? end : stays
}

/** A letter, a digit, or the side of a mask (`<` or `>`) that stands for one. */
function isWordLike(text: string, at: number, maskSide: number): boolean {
  return at >= 0 && ((classAt(text, at) & WORD) !== 0 || text.charCodeAt(at) === maskSide)
}

function endOfQuoted(text: string, at: number, quote: number): number {
  let end = at
  do {
    end = text.indexOf(String.fromCharCode(quote), end + 1)
    if (end < 0) return -(at + 1)
  } while (!closes(text, at, end, quote))
  // A JSON key says what kind of message this is: it stays.
  return text.charCodeAt(end + 1) === COLON && isPlainKey(text, at + 1, end) ? -(end + 1) : end + 1
}

function closes(text: string, at: number, end: number, quote: number): boolean {
  if (text.charCodeAt(end - 1) === BACKSLASH && end - 1 > at) return false
  return quote !== SINGLE_QUOTE || !isWordLike(text, end + 1, LESS)
}

function isPlainKey(text: string, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    const kind = classAt(text, at)
    if ((kind & DIGIT) !== 0 || ((kind & WORD) === 0 && !'_-.@$'.includes(text[at]!))) return false
  }
  return end > from
}

/** Shorter runs of hex digits are taken for words with a number in them. */
const MIN_HEX = 6

/** At the first character of a run of letters and digits. */
function endOfWord(text: string, from: number): number {
  let at = from
  let digitRuns = 0
  let seen = 0
  let previous = 0
  for (; ; at++) {
    const kind = classAt(text, at) & WORD
    if (kind === 0) break
    seen |= kind
    if (kind === DIGIT && previous !== DIGIT) digitRuns++
    previous = kind
  }
  const isHex = (seen & LETTER) === 0
  if (isHex) {
    const next = text.charCodeAt(at)
    if (next === MINUS && at - from === 8 && isUuid(text, from)) return from + 36
    const end = next === COLON ? endOfColonGroups(text, from) : 0
    if (end > 0) return endOfNumber(text, end)
  }
  if (digitRuns === 0) return -at
  if (seen === DIGIT) return endOfNumber(text, at)
  return digitRuns > 1 || (isHex && at - from >= MIN_HEX) || isPrefixedHex(text, from, at) ? at : ONLY_DIGITS
}

function isPrefixedHex(text: string, from: number, end: number): boolean {
  const second = text[from + 1]
  if (end - from < 3 || text[from] !== '0' || (second !== 'x' && second !== 'X')) return false
  for (let at = from + 2; at < end; at++) if ((classAt(text, at) & LETTER) !== 0) return false
  return true
}

/** After a run of digits: takes in the digits joined to it, so that a decimal, a date, a time, an IPv4 address is one. */
function endOfNumber(text: string, end: number): number {
  let at = end
  while ((classAt(text, at) & JOINER) !== 0 && (classAt(text, at + 1) & DIGIT) !== 0) {
    at = endOfDigits(text, at + 1)
    const after = text.charCodeAt(at)
    if ((after === UPPER_T || after === LOWER_T) && (classAt(text, at + 1) & DIGIT) !== 0) at = endOfDigits(text, at + 1)
    if ((text.charCodeAt(at) === UPPER_Z || text.charCodeAt(at) === LOWER_Z) && (classAt(text, at + 1) & WORD) === 0) return at + 1
  }
  return at
}

function endOfDigits(text: string, from: number): number {
  let at = from
  while ((classAt(text, at) & DIGIT) !== 0) at++
  return at
}

function isUuid(text: string, from: number): boolean {
  for (let i = 9; i < 36; i++) {
    if (i === 13 || i === 18 || i === 23) {
      if (text.charCodeAt(from + i) !== MINUS) return false
    } else if ((classAt(text, from + i) & (DIGIT | HEX_LETTER)) === 0) return false
  }
  return (classAt(text, from + 36) & WORD) === 0
}

/** IPv6 and MAC addresses, times of day: at least two colons, groups of at most four hex digits, a digit somewhere; 0 when it is none. */
function endOfColonGroups(text: string, from: number): number {
  let at = from
  let colons = 0
  let group = 0
  let hasDigit = false
  for (; ; at++) {
    const kind = classAt(text, at)
    if ((kind & (DIGIT | HEX_LETTER)) !== 0) {
      hasDigit ||= kind === DIGIT
      if (++group > 4) return 0
    } else if (text.charCodeAt(at) === COLON) {
      colons++
      group = 0
    } else if ((kind & LETTER) !== 0) return 0
    else break
  }
  return colons >= 2 && hasDigit && group > 0 ? at : 0
}
