/** The bytes that JSON is made of (RFC 8259), and how to get past the smallest pieces of it. */
// Numbers stand in the loops themselves: a constant that a module exports is fetched anew for each byte, also in the module itself (measured).
import { Buffer } from 'node:buffer'

export const SPACE = 0x20
export const QUOTE = 0x22
export const PLUS = 0x2b
export const COMMA = 0x2c
export const MINUS = 0x2d
export const DOT = 0x2e
export const ZERO = 0x30
export const COLON = 0x3a
export const OPEN_LIST = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_LIST = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d

/** No position: the thing looked for does not stand there. */
export const NOWHERE = -1

/** 1 for bytes that stand for themselves inside a string. */
export const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) => (byte < SPACE || byte === QUOTE || byte === BACKSLASH ? 0 : 1))

/** At the next byte that is no white space, or at `end`. */
export function skipSpace(b: Uint8Array, from: number, end = b.length): number {
  let p = from
  for (; p < end; p++) {
    const c = b[p]!
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) break
  }
  return p
}

export function isDigit(c: number | undefined): boolean {
  return c !== undefined && c >= 0x30 && c <= 0x39
}

/** After the digits from `from` on; `from` itself when there is none. */
export function digitsEnd(b: Uint8Array, from: number): number {
  let p = from
  while (b[p]! >= 0x30 && b[p]! <= 0x39) p++
  return p
}

/** The value of a hexadecimal digit in either case; -1 for anything else. */
export function hexDigit(c: number | undefined): number {
  if (c === undefined) return -1
  if (c >= 0x30 && c <= 0x39) return c - 0x30
  const lower = c | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

export function startsWith(b: Uint8Array, p: number, piece: Uint8Array): boolean {
  for (let i = 0; i < piece.length; i++) if (b[p + i] !== piece[i]) return false
  return true
}

/** Whether there is a backslash between the two positions. */
export function hasEscape(b: Uint8Array, start: number, end: number): boolean {
  for (let p = start; p < end; p++) if (b[p] === 0x5c) return true
  return false
}

/** After the closing quote of the string whose opening quote stands at `quote`; `NOWHERE` when it does not end. Looks at escapes, checks nothing. */
export function stringEnd(b: Uint8Array, quote: number, end = b.length): number {
  for (let p = quote + 1; p < end; p++) {
    const c = b[p]
    if (c === 0x22) return p + 1
    if (c === 0x5c) p++
  }
  return NOWHERE
}

/** The same; `NOWHERE` also for an escape or a control character. Bytes beyond ASCII are for the caller to check. */
export function plainStringEnd(b: Uint8Array, quote: number, end = b.length): number {
  for (let p = quote + 1; p < end; p++) {
    const c = b[p]!
    if (c === 0x22) return p + 1
    if (c === 0x5c || c < 0x20) return NOWHERE
  }
  return NOWHERE
}

/** The same; `NOWHERE` also for bytes beyond ASCII. */
export function asciiStringEnd(b: Uint8Array, quote: number, end = b.length): number {
  for (let p = quote + 1; p < end; p++) {
    const c = b[p]!
    if (c === 0x22) return p + 1
    if (c === 0x5c || c < 0x20 || c >= 0x80) return NOWHERE
  }
  return NOWHERE
}

/** The UTF-8 text between two positions. */
export function textBetween(b: Uint8Array, start: number, end: number): string {
  return Buffer.from(b.buffer, b.byteOffset + start, end - start).toString('utf8')
}
