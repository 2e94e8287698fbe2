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
  if (b[p] !== OPEN_OBJECT && b[p] !== OPEN_LIST) return scalarEnd(b, p, repairs)
  const reader = new ValueReader(b, p, repairs, levels)
  reader.goOn(b.length)
  return reader.position
}

/** Reads one value, checked for syntax alone; its reader may rest in the middle of a long one. */
export class ValueReader {
  readonly #b: Uint8Array
  readonly #repairs: Repairs
  readonly #levels: number
  /** Closing brackets of the lists and objects around the position, outer before inner. */
  readonly #open: number[] = []
  /** Where a member, an element or the value itself begins; after the value once all of it is read. */
  position: number

  constructor(b: Uint8Array, start: number, repairs: Repairs, levels = MAX_UNKNOWN_DEPTH) {
    this.#b = b
    this.position = start
    this.#repairs = repairs
    this.#levels = levels
  }

  /** Reads on, to the first member or element beyond `limit` at most; whether all of the value is read. Throws a `Fault`. */
  goOn(limit: number): boolean {
    const b = this.#b
    const open = this.#open
    let p = this.position
    for (;;) {
      if (p > limit) {
        this.position = p
        return false
      }
      if (open[open.length - 1] === CLOSE_OBJECT) p = this.#nameEnd(p)
      const opening = b[p]
      if (opening === OPEN_OBJECT || opening === OPEN_LIST) {
        if (open.length === this.#levels) throw new Fault(p, `at most ${this.#levels} levels of nesting`)
        const close = opening === OPEN_LIST ? CLOSE_LIST : CLOSE_OBJECT
        p = skipSpace(b, p + 1)
        if (b[p] !== close) {
          open.push(close)
          continue
        }
        p++
      } else p = scalarEnd(b, p, this.#repairs)
      p = this.#closed(p)
      if (open.length === 0) {
        this.position = p
        return true
      }
      p = skipSpace(b, p + 1)
    }
  }

  /** At the value of the member whose name begins here. */
  #nameEnd(p: number): number {
    const b = this.#b
    if (b[p] !== QUOTE) throw new Fault(p, 'a field name')
    const colon = skipSpace(b, closingQuote(b, p + 1, this.#repairs) + 1)
    if (b[colon] !== COLON) throw new Fault(colon, '":"')
    return skipSpace(b, colon + 1)
  }

  /** From after a value to the comma behind it and all that it closes; after the outermost value, which has none. */
  #closed(from: number): number {
    const b = this.#b
    const open = this.#open
    let p = from
    while (open.length > 0) {
      p = skipSpace(b, p)
      if (b[p] === COMMA) return p
      if (b[p] !== open[open.length - 1]) throw new Fault(p, open[open.length - 1] === CLOSE_LIST ? '"," or "]"' : '"," or "}"')
      open.pop()
      p++
    }
    return p
  }
}

/** After a value that is neither a list nor an object. */
function scalarEnd(b: Uint8Array, p: number, repairs: Repairs): number {
  const c = b[p]
  if (c === QUOTE) return closingQuote(b, p + 1, repairs) + 1
  if (c === MINUS || isDigit(c)) return numberEnd(b, p)
  if (isNull(b, p)) return p + NULL.length
  const end = boolEnd(b, p)
  if (end < 0) throw new Fault(p, 'a JSON value')
  return end
}
