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

const OTHER = 0
const DIGIT = 1
const LETTER = 2
/** a to f, of either case: also a letter. */
const HEX_LETTER = 3

/** The class of each ASCII character; everything beyond is OTHER. */
const CLASS = new Uint8Array(128)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  if (/[0-9]/.test(char)) CLASS[code] = DIGIT
  else if (/[a-f]/i.test(char)) CLASS[code] = HEX_LETTER
  else if (/[a-z]/i.test(char)) CLASS[code] = LETTER
}

const DOUBLE_QUOTE = 34
const SINGLE_QUOTE = 39
const PLUS = 43
const MINUS = 45
const COLON = 58
const LESS = 60
const GREATER = 62
const BACKSLASH = 92
const BACKTICK = 96
/** Between digits they belong to the same number, date, time or address: `,` `-` `.` `/` `:`. */
const JOINERS: ReadonlySet<number> = new Set([44, MINUS, 46, 47, COLON])

function classAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  // NaN (past the end) compares false as well.
  return code < 128 ? CLASS[code]! : OTHER
}

/**
 * The message with numbers, hex, UUIDs, addresses, quoted strings and timestamps masked. One pass without regular
 * expressions, as every record goes through it. Masking a masked message changes nothing.
 */
export function maskMessage(message: string): string {
  const text = message.length > MAX_PATTERN_INPUT ? cut(message) : message
  let masked = ''
  let copied = 0
  let at = 0
  while (at < text.length) {
    const end = classAt(text, at) === OTHER ? endOfSpecial(text, at) : endOfWord(text, at)
    if (end > 0) {
      masked += text.slice(copied, at) + MASK
      at = copied = end
    } else if (end === NOTHING) at++
    else if (end < 0) {
      // A word that is not masked as a whole, up to -end.
      const after = -end
      for (; at < after; at++) {
        if (classAt(text, at) !== DIGIT) continue
        masked += text.slice(copied, at) + MASK
        while (at < after && classAt(text, at) === DIGIT) at++
        copied = at
      }
      at = after
    }
  }
  return copied === 0 ? text : masked + text.slice(copied)
}

/** Not variable: go on with the next character. */
const NOTHING = 0

/** Cuts without splitting a surrogate pair. */
function cut(message: string): string {
  const last = message.charCodeAt(MAX_PATTERN_INPUT - 1)
  return message.slice(0, last >= 0xd800 && last < 0xdc00 ? MAX_PATTERN_INPUT - 1 : MAX_PATTERN_INPUT)
}

/** At a character that is no letter or digit: the end of the quoted string, signed number or IPv6 address that starts here, else NOTHING. */
function endOfSpecial(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code === DOUBLE_QUOTE || code === BACKTICK) return endOfQuoted(text, at, code)
  if (code === SINGLE_QUOTE) return isWordLike(text, at - 1, GREATER) ? NOTHING : endOfQuoted(text, at, code)
  if ((code === MINUS || code === PLUS) && classAt(text, at + 1) === DIGIT && !isWordLike(text, at - 1, GREATER)) {
    const end = endOfWord(text, at + 1)
    return end > 0 ? end : NOTHING
  }
  return code === COLON && text.charCodeAt(at + 1) === COLON ? endOfColonGroups(text, at) : NOTHING
}

/** A letter, a digit, or the side of a mask (`<` or `>`) that stands for one. */
function isWordLike(text: string, at: number, maskSide: number): boolean {
  return at >= 0 && (classAt(text, at) !== OTHER || text.charCodeAt(at) === maskSide)
}

function endOfQuoted(text: string, at: number, quote: number): number {
  let end = at + 1
  for (; ; end++) {
    end = text.indexOf(String.fromCharCode(quote), end)
    if (end < 0) return NOTHING
    if (text.charCodeAt(end - 1) === BACKSLASH && end - 1 > at) continue
    if (quote === SINGLE_QUOTE && isWordLike(text, end + 1, LESS)) continue
    break
  }
  // A JSON key says what kind of message this is: it stays.
  return text.charCodeAt(end + 1) === COLON && isPlainKey(text, at + 1, end) ? -(end + 1) : end + 1
}

function isPlainKey(text: string, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    const kind = classAt(text, at)
    if (kind === DIGIT || (kind === OTHER && !'_-.@$'.includes(text[at]!))) return false
  }
  return end > from
}

/**
 * At the first character of a run of letters and digits: its end when it is masked as a whole (with what is joined to it), the negated end when only
 * the digits in it are.
 */
function endOfWord(text: string, from: number): number {
  if (isUuid(text, from)) return from + 36
  let at = from
  let digitRuns = 0
  let letters = 0
  let isHex = true
  let previous = OTHER
  for (; ; at++) {
    const kind = classAt(text, at)
    if (kind === OTHER) break
    if (kind === DIGIT) {
      if (previous !== DIGIT) digitRuns++
    } else {
      letters++
      if (kind === LETTER) isHex = false
    }
    previous = kind
  }
  if (isHex && text.charCodeAt(at) === COLON) {
    const end = endOfColonGroups(text, from)
    if (end > 0) return end
  }
  if (digitRuns === 0) return -at
  if (letters === 0) return endOfNumber(text, at)
  if (digitRuns > 1 || (isHex && at - from >= MIN_HEX)) return at
  return isPrefixedHex(text, from, at) ? at : -at
}

/** Shorter runs of hex digits are taken for words with a number. */
const MIN_HEX = 6

function isPrefixedHex(text: string, from: number, end: number): boolean {
  if (end - from < 3 || text[from] !== '0' || (text[from + 1] !== 'x' && text[from + 1] !== 'X')) return false
  for (let at = from + 2; at < end; at++) if (classAt(text, at) === LETTER) return false
  return true
}

/** After a run of digits: takes in what is joined to it by `.`, `:` and the like, an ISO-8601 `T` and `Z`. */
function endOfNumber(text: string, end: number): number {
  let at = end
  while (JOINERS.has(text.charCodeAt(at)) && classAt(text, at + 1) === DIGIT) {
    let next = at + 1
    while (classAt(text, next) === DIGIT) next++
    // `1:abc2`, `2026-11-21T…`: only whole runs of digits are joined, but for the T of a timestamp.
    const after = text.charCodeAt(next)
    if ((after === UPPER_T || after === LOWER_T) && classAt(text, next + 1) === DIGIT) {
      next++
      while (classAt(text, next) === DIGIT) next++
    }
    at = next
    if ((text.charCodeAt(at) === UPPER_Z || text.charCodeAt(at) === LOWER_Z) && classAt(text, at + 1) === OTHER) return at + 1
    if (classAt(text, at) !== OTHER) break
  }
  return at
}

const UPPER_T = 84
const LOWER_T = 116
const UPPER_Z = 90
const LOWER_Z = 122

function isUuid(text: string, from: number): boolean {
  if (text.charCodeAt(from + 8) !== MINUS || text.charCodeAt(from + 13) !== MINUS) return false
  if (text.charCodeAt(from + 18) !== MINUS || text.charCodeAt(from + 23) !== MINUS) return false
  for (let i = 0; i < 36; i++) {
    if (i === 8 || i === 13 || i === 18 || i === 23) continue
    const kind = classAt(text, from + i)
    if (kind !== DIGIT && kind !== HEX_LETTER) return false
  }
  return classAt(text, from + 36) === OTHER
}

/** IPv6 and MAC addresses, times of day: at least two colons, groups of at most four hex digits, a digit somewhere. */
function endOfColonGroups(text: string, from: number): number {
  let at = from
  let colons = 0
  let group = 0
  let hasDigit = false
  for (; ; at++) {
    const kind = classAt(text, at)
    if (kind === DIGIT || kind === HEX_LETTER) {
      hasDigit ||= kind === DIGIT
      if (++group > 4) return NOTHING
    } else if (text.charCodeAt(at) === COLON) {
      colons++
      group = 0
    } else if (kind === LETTER) return NOTHING
    else break
  }
  return colons >= 2 && hasDigit && group > 0 ? at : NOTHING
}
