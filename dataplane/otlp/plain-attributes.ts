/**
 * Attributes and values as most writers of JSON put them: compact, key first, one scalar. They are matched in words of four bytes; the general
 * way (`json-scanner.ts`) looks at each name and bracket by itself.
 */
import { Buffer } from 'node:buffer'
import { CLOSE_OBJECT, DOT, digitsEnd, MINUS, QUOTE, ZERO } from '../json/bytes.ts'
import { boolEnd } from '../json/strict.ts'
import { specialAt } from '../json/words.ts'

/** The attribute or value is left to the general way. */
export const NOT_PLAIN = -1

/** Bytes that the names and brackets of an attribute take at most, from its key's closing quote on; nearer to the end of a text, the general way is taken. */
const AROUND_BYTES = 40
const MAX_INTEGER_DIGITS = 18
/** Longer numbers are looked at by value. */
const MAX_NUMBER_DIGITS = 15
const MAX_DOUBLE_BYTES = 24

const wordsOf = (text: string) => Int32Array.from({ length: text.length / 4 }, (_, i) => Buffer.from(text).readInt32LE(4 * i))

const OPEN_KEY = wordsOf('{"key":"')
const OPEN_VALUE = wordsOf('","value":{"')
const STRING = wordsOf('stringValue"')
const INT = wordsOf('intValue')
const DOUBLE = wordsOf('doubleValue"')
const BOOL = wordsOf('boolValu')
const OPEN_STRING_VALUE = wordsOf('{"stringValue":"')
/** The two bytes after a name that ends with its word, and after one that does not. */
const COLON_QUOTE = 0x223a
const QUOTE_COLON = 0x3a22
const E_QUOTE = 0x2265
const TWO_CLOSE = 0x7d7d
const COLON = 0x3a

export class PlainAttributes {
  readonly #b: Uint8Array
  readonly #words: DataView
  /** Where the key of the attribute read last ends, and where its value lies when that is a string. */
  keyEnd = NOT_PLAIN
  stringStart = NOT_PLAIN
  stringEnd = NOT_PLAIN

  constructor(text: Uint8Array, words: DataView) {
    this.#b = text
    this.#words = words
  }

  /** After the attribute whose brace stands at `open`. */
  end(open: number): number {
    const words = this.#words
    const { length } = this.#b
    const limit = length - AROUND_BYTES
    if (open > limit || !isAt(words, open, OPEN_KEY)) return NOT_PLAIN
    const keyEnd = specialAt(words, open + 8, length)
    if (keyEnd > limit || this.#b[keyEnd] !== QUOTE || !isAt(words, keyEnd, OPEN_VALUE)) return NOT_PLAIN
    this.keyEnd = keyEnd
    this.stringStart = NOT_PLAIN
    const kind = keyEnd + 12
    const valueEnd = this.#valueEnd(kind, words.getInt32(kind, true))
    if (valueEnd === NOT_PLAIN || valueEnd + 2 > length) return NOT_PLAIN
    return words.getUint16(valueEnd, true) === TWO_CLOSE ? valueEnd + 2 : NOT_PLAIN
  }

  /** `first` is the first word of the kind's name, which starts at `kind`. */
  #valueEnd(kind: number, first: number): number {
    const words = this.#words
    const b = this.#b
    if (first === STRING[0]) {
      if (!isAt(words, kind, STRING) || words.getUint16(kind + 12, true) !== COLON_QUOTE) return NOT_PLAIN
      const end = specialAt(words, kind + 14, b.length)
      if (b[end] !== QUOTE) return NOT_PLAIN
      this.stringStart = kind + 14
      this.stringEnd = end
      return end + 1
    }
    if (first === INT[0])
      return isAt(words, kind, INT) && words.getUint16(kind + 8, true) === QUOTE_COLON ? integerEnd(b, kind + 10) : NOT_PLAIN
    if (first === DOUBLE[0]) return isAt(words, kind, DOUBLE) && b[kind + 12] === COLON ? doubleEnd(b, kind + 13) : NOT_PLAIN
    if (first === BOOL[0] && isAt(words, kind, BOOL) && words.getUint16(kind + 8, true) === E_QUOTE && b[kind + 10] === COLON)
      return boolEnd(b, kind + 11)
    return NOT_PLAIN
  }

  /** Where the text of the string starts that is all of the value whose brace stands at `open`. */
  stringValueStart(open: number): number {
    return open + 16 <= this.#b.length && isAt(this.#words, open, OPEN_STRING_VALUE) ? open + 16 : NOT_PLAIN
  }
}

function isAt(text: DataView, at: number, words: Int32Array): boolean {
  for (let i = 0; i < words.length; i++) if (text.getInt32(at + 4 * i, true) !== words[i]) return false
  return true
}

/** After an integer that is within range by its length alone. */
function integerEnd(b: Uint8Array, start: number): number {
  const isQuoted = b[start] === QUOTE
  const first = isQuoted ? start + 1 : start
  const end = digitsEnd(b, first)
  const count = end - first
  if (count === 0 || count > (isQuoted ? MAX_INTEGER_DIGITS : MAX_NUMBER_DIGITS) || (b[first] === ZERO && count > 1)) return NOT_PLAIN
  if (!isQuoted) return end
  return b[end] === QUOTE ? end + 1 : NOT_PLAIN
}

/** After a number without an exponent. */
function doubleEnd(b: Uint8Array, start: number): number {
  const first = b[start] === MINUS ? start + 1 : start
  const wholeEnd = digitsEnd(b, first)
  if (wholeEnd === first || (b[first] === ZERO && wholeEnd > first + 1)) return NOT_PLAIN
  const end = b[wholeEnd] === DOT ? digitsEnd(b, wholeEnd + 1) : wholeEnd
  if (end === wholeEnd + 1 || end - start > MAX_DOUBLE_BYTES) return NOT_PLAIN
  return b[end] === CLOSE_OBJECT ? end : NOT_PLAIN
}
