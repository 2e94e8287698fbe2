/**
 * Strict JSON (RFC 8259), token by token over bytes: a `Fault` says where it is broken. Functions take the position to start at and return
 * the one after.
 */
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  DOT,
  digitsEnd,
  hexDigit,
  isDigit,
  MINUS,
  OPEN_LIST,
  OPEN_OBJECT,
  PLAIN,
  PLUS,
  QUOTE,
  skipSpace,
  startsWith,
  ZERO,
} from './bytes.ts'
import { MAX_UNKNOWN_DEPTH } from './depth.ts'
import { Fault } from './fault.ts'

/** Takes what must be changed in a text that is accepted. */
export interface Repairs {
  /** The bytes from `start` to `end` (exclusive) become `text`, in ASCII. */
  add(start: number, end: number, text: string): void
}

/** A table of this file's own is known to the compiler while it runs; one that is imported is fetched anew for each byte (5 % of JSON accept). */
const IS_PLAIN = PLAIN
const SIMPLE_ESCAPES = new Set(Array.from('"\\/bfnrt', letter => letter.charCodeAt(0)))

/** From just after the opening quote to the closing one. Escaped lone surrogates, which UTF-8 cannot hold, are edited to U+FFFD. */
export function closingQuote(b: Uint8Array, from: number, repairs: Repairs): number {
  const n = b.length
  let p = from
  for (;;) {
    while (p < n && IS_PLAIN[b[p]!] === 1) p++
    if (p >= n) throw new Fault(n, 'the end of the string')
    const c = b[p]!
    if (c === QUOTE) return p
    if (c !== BACKSLASH) throw new Fault(p, 'an escaped control character')
    p = escapeEnd(b, p, repairs)
  }
}

function escapeEnd(b: Uint8Array, p: number, repairs: Repairs): number {
  const letter = b[p + 1]
  if (letter !== undefined && SIMPLE_ESCAPES.has(letter)) return p + 2
  const unit = escapedUnit(b, p)
  if (unit < 0) throw new Fault(p, 'a valid escape')
  if (unit < 0xd800 || unit > 0xdfff) return p + 6
  const next = unit < 0xdc00 ? escapedUnit(b, p + 6) : -1
  if (next >= 0xdc00 && next <= 0xdfff) return p + 12
  repairs.add(p, p + 6, '\\ufffd')
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

export function numberEnd(b: Uint8Array, from: number): number {
  let p = b[from] === MINUS ? from + 1 : from
  p = b[p] === ZERO ? p + 1 : someDigitsEnd(b, p)
  if (b[p] === DOT) p = someDigitsEnd(b, p + 1)
  if (b[p] === 0x65 || b[p] === 0x45) {
    const sign = b[p + 1]
    p = someDigitsEnd(b, sign === MINUS || sign === PLUS ? p + 2 : p + 1)
  }
  return p
}

/** One digit at least. */
function someDigitsEnd(b: Uint8Array, from: number): number {
  const end = digitsEnd(b, from)
  if (end === from) throw new Fault(from, 'a digit')
  return end
}

const TRUE = new TextEncoder().encode('true')
const FALSE = new TextEncoder().encode('false')
const NULL = new TextEncoder().encode('null')

export function isNull(b: Uint8Array, p: number): boolean {
  return startsWith(b, p, NULL)
}

/** After `true` or `false`; -1 when neither stands there. */
export function boolEnd(b: Uint8Array, p: number): number {
  if (startsWith(b, p, TRUE)) return p + TRUE.length
  return startsWith(b, p, FALSE) ? p + FALSE.length : -1
}

/** After any value of so many levels, checked for syntax alone. */
export function valueEnd(b: Uint8Array, p: number, repairs: Repairs, levels = MAX_UNKNOWN_DEPTH): number {
  const c = b[p]
  if (c === QUOTE) return closingQuote(b, p + 1, repairs) + 1
  if (c === OPEN_OBJECT || c === OPEN_LIST) {
    if (levels === 0) throw new Fault(p, `at most ${MAX_UNKNOWN_DEPTH} levels of nesting`)
    return c === OPEN_LIST ? listEnd(b, p, repairs, levels - 1) : objectEnd(b, p, repairs, levels - 1)
  }
  if (c === MINUS || isDigit(c)) return numberEnd(b, p)
  if (isNull(b, p)) return p + NULL.length
  const end = boolEnd(b, p)
  if (end < 0) throw new Fault(p, 'a JSON value')
  return end
}

function listEnd(b: Uint8Array, open: number, repairs: Repairs, levels: number): number {
  let p = skipSpace(b, open + 1)
  if (b[p] === CLOSE_LIST) return p + 1
  for (;;) {
    p = skipSpace(b, valueEnd(b, p, repairs, levels))
    if (b[p] === CLOSE_LIST) return p + 1
    if (b[p] !== COMMA) throw new Fault(p, '"," or "]"')
    p = skipSpace(b, p + 1)
  }
}

function objectEnd(b: Uint8Array, open: number, repairs: Repairs, levels: number): number {
  let p = skipSpace(b, open + 1)
  if (b[p] === CLOSE_OBJECT) return p + 1
  for (;;) {
    if (b[p] !== QUOTE) throw new Fault(p, 'a field name')
    p = skipSpace(b, closingQuote(b, p + 1, repairs) + 1)
    if (b[p] !== COLON) throw new Fault(p, '":"')
    p = skipSpace(b, valueEnd(b, skipSpace(b, p + 1), repairs, levels))
    if (b[p] === CLOSE_OBJECT) return p + 1
    if (b[p] !== COMMA) throw new Fault(p, '"," or "}"')
    p = skipSpace(b, p + 1)
  }
}
