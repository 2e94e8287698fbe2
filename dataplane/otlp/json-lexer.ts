/** Strict JSON (RFC 8259), token by token over bytes. Functions take the position to start at and return the one after. */
import { EditList } from './layout.ts'
import { Fault, OversizedPayload } from './malformed.ts'
import { MAX_VALUE_DEPTH } from './payload.ts'

export const QUOTE = 0x22
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_LIST = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_LIST = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d
export const MINUS = 0x2d
const DOT = 0x2e
export const ZERO = 0x30
const NINE = 0x39

/** 1 for bytes that stand for themselves inside a string. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) => (byte < 0x20 || byte === QUOTE || byte === BACKSLASH ? 0 : 1))
const SIMPLE_ESCAPES = new Set(Array.from('"\\/bfnrt', letter => letter.charCodeAt(0)))
/** Nesting allowed inside a field that OTLP does not know. */
const MAX_UNKNOWN_DEPTH = 100
/** Levels of JSON in a request: AnyValues have up to four each (`kvlistValue`, its list, an entry, its value); and what is around and inside them. */
export const MAX_REQUEST_LEVELS = 4 * MAX_VALUE_DEPTH + MAX_UNKNOWN_DEPTH + 20

export function skipSpace(b: Uint8Array, from: number): number {
  let p = from
  for (; p < b.length; p++) {
    const c = b[p]!
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) break
  }
  return p
}

/** From just after the opening quote to the closing one. Escaped lone surrogates, which UTF-8 cannot hold, are edited to U+FFFD. */
export function closingQuote(b: Uint8Array, from: number, edits: EditList): number {
  const n = b.length
  let p = from
  for (;;) {
    while (p < n && PLAIN[b[p]!] === 1) p++
    if (p >= n) throw new Fault(n, 'the end of the string')
    const c = b[p]!
    if (c === QUOTE) return p
    if (c !== BACKSLASH) throw new Fault(p, 'an escaped control character')
    p = escapeEnd(b, p, edits)
  }
}

function escapeEnd(b: Uint8Array, p: number, edits: EditList): number {
  const letter = b[p + 1]
  if (letter !== undefined && SIMPLE_ESCAPES.has(letter)) return p + 2
  const unit = escapedUnit(b, p)
  if (unit < 0) throw new Fault(p, 'a valid escape')
  if (unit < 0xd800 || unit > 0xdfff) return p + 6
  const next = unit < 0xdc00 ? escapedUnit(b, p + 6) : -1
  if (next >= 0xdc00 && next <= 0xdfff) return p + 12
  edits.add(p, p + 6, '\\ufffd')
  return p + 6
}

/** The code unit that `\uXXXX` at `p` stands for; -1 when it is no such escape. */
function escapedUnit(b: Uint8Array, p: number): number {
  if (b[p] !== BACKSLASH || b[p + 1] !== 0x75) return -1
  let unit = 0
  for (let i = 2; i < 6; i++) {
    const digit = hexDigit(b[p + i])
    if (digit < 0) return -1
    unit = unit * 16 + digit
  }
  return unit
}

function hexDigit(c: number | undefined): number {
  if (c === undefined) return -1
  if (c >= ZERO && c <= NINE) return c - ZERO
  const lower = c | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

export function isDigit(c: number | undefined): boolean {
  return c !== undefined && c >= ZERO && c <= NINE
}

export function numberEnd(b: Uint8Array, from: number): number {
  let p = b[from] === MINUS ? from + 1 : from
  p = b[p] === ZERO ? p + 1 : digitsEnd(b, p)
  if (b[p] === DOT) p = digitsEnd(b, p + 1)
  if (b[p] === 0x65 || b[p] === 0x45) {
    const sign = b[p + 1]
    p = digitsEnd(b, sign === MINUS || sign === 0x2b ? p + 2 : p + 1)
  }
  return p
}

/** One digit at least. */
function digitsEnd(b: Uint8Array, from: number): number {
  if (!isDigit(b[from])) throw new Fault(from, 'a digit')
  let p = from + 1
  while (isDigit(b[p])) p++
  return p
}

const TRUE = new TextEncoder().encode('true')
const FALSE = new TextEncoder().encode('false')
const NULL = new TextEncoder().encode('null')

function startsWith(b: Uint8Array, p: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (b[p + i] !== word[i]) return false
  return true
}

export function isNull(b: Uint8Array, p: number): boolean {
  return startsWith(b, p, NULL)
}

/** After `true` or `false`; -1 when neither stands there. */
export function boolEnd(b: Uint8Array, p: number): number {
  if (startsWith(b, p, TRUE)) return p + TRUE.length
  return startsWith(b, p, FALSE) ? p + FALSE.length : -1
}

/** Whether the text is one JSON object, without space around it, no deeper than a request may be. */
export function isObject(text: Uint8Array): boolean {
  try {
    return text[0] === OPEN_OBJECT && valueEnd(text, 0, new EditList(), MAX_REQUEST_LEVELS) === text.length
  } catch (error) {
    if (error instanceof Fault || error instanceof OversizedPayload) return false
    throw error
  }
}

/** After any value of so many levels, checked for syntax alone. */
export function valueEnd(b: Uint8Array, p: number, edits: EditList, levels = MAX_UNKNOWN_DEPTH): number {
  const c = b[p]
  if (c === QUOTE) return closingQuote(b, p + 1, edits) + 1
  if (c === OPEN_OBJECT || c === OPEN_LIST) {
    if (levels === 0) throw new Fault(p, `at most ${MAX_UNKNOWN_DEPTH} levels of nesting`)
    return c === OPEN_LIST ? listEnd(b, p, edits, levels - 1) : objectEnd(b, p, edits, levels - 1)
  }
  if (c === MINUS || isDigit(c)) return numberEnd(b, p)
  if (isNull(b, p)) return p + NULL.length
  const end = boolEnd(b, p)
  if (end < 0) throw new Fault(p, 'a JSON value')
  return end
}

function listEnd(b: Uint8Array, open: number, edits: EditList, levels: number): number {
  let p = skipSpace(b, open + 1)
  if (b[p] === CLOSE_LIST) return p + 1
  for (;;) {
    p = skipSpace(b, valueEnd(b, p, edits, levels))
    if (b[p] === CLOSE_LIST) return p + 1
    if (b[p] !== COMMA) throw new Fault(p, '"," or "]"')
    p = skipSpace(b, p + 1)
  }
}

function objectEnd(b: Uint8Array, open: number, edits: EditList, levels: number): number {
  let p = skipSpace(b, open + 1)
  if (b[p] === CLOSE_OBJECT) return p + 1
  for (;;) {
    if (b[p] !== QUOTE) throw new Fault(p, 'a field name')
    p = skipSpace(b, closingQuote(b, p + 1, edits) + 1)
    if (b[p] !== COLON) throw new Fault(p, '":"')
    p = skipSpace(b, valueEnd(b, skipSpace(b, p + 1), edits, levels))
    if (b[p] === CLOSE_OBJECT) return p + 1
    if (b[p] !== COMMA) throw new Fault(p, '"," or "}"')
    p = skipSpace(b, p + 1)
  }
}
