/**
 * Attributes and values as most writers of JSON put them: compact, key first, one scalar. They are matched in words of four and eight bytes; the general
 * way (`json-scanner.ts`) looks at each name and bracket by itself.
 */
import { Buffer } from 'node:buffer'
import { CLOSE_OBJECT, DOT, digitsEnd, MINUS, QUOTE, ZERO } from '../../json/bytes.ts'
import { boolEnd } from '../../json/strict.ts'
import { specialAt } from '../../json/words.ts'

/** The attribute or value is left to the general way. */
export const NOT_PLAIN = -1

/** Bytes that the names and brackets of an attribute take at most, from its key's closing quote on; nearer to the end of a text, the general way is taken. */
const AROUND_BYTES = 40
const MAX_INTEGER_DIGITS = 18
/** Longer numbers are looked at by value. */
const MAX_NUMBER_DIGITS = 15
const MAX_DOUBLE_BYTES = 24

const wordsOf = (text: string) => Int32Array.from({ length: text.length / 4 }, (_, i) => Buffer.from(text).readInt32LE(4 * i))

/** Words of eight bytes. A double that is no zero and a number equals no other bytes than its own, and ASCII makes no other. */
const widesOf = (text: string) => Float64Array.from({ length: text.length / 8 }, (_, i) => Buffer.from(text).readDoubleLE(8 * i))

const [OPEN_KEY] = widesOf('{"key":"') as unknown as readonly [number]
const [STRING_1, STRING_2, STRING_3] = widesOf('","value":{"stringValue"') as unknown as readonly [number, number, number]
const OPEN_VALUE = wordsOf('","value":{"')
const INT = wordsOf('intValue')
const DOUBLE = wordsOf('doubleValue"')
const BOOL = wordsOf('boolValu')
const [OPEN_STRING_1, OPEN_STRING_2] = widesOf('{"stringValue":"') as unknown as readonly [number, number]
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
    if (open > limit || words.getFloat64(open, true) !== OPEN_KEY) return NOT_PLAIN
    const keyEnd = specialAt(words, open + 8, length)
    if (keyEnd > limit) return NOT_PLAIN
    this.keyEnd = keyEnd
    const valueEnd = words.getFloat64(keyEnd, true) === STRING_1 ? this.#stringEnd(keyEnd) : this.#otherEnd(keyEnd)
    if (valueEnd === NOT_PLAIN || valueEnd + 2 > length) return NOT_PLAIN
    return words.getUint16(valueEnd, true) === TWO_CLOSE ? valueEnd + 2 : NOT_PLAIN
  }

  /** After a string whose key ends at `keyEnd`. */
  #stringEnd(keyEnd: number): number {
    const words = this.#words
    const isString =
      words.getFloat64(keyEnd + 8, true) === STRING_2 &&
      words.getFloat64(keyEnd + 16, true) === STRING_3 &&
      words.getUint16(keyEnd + 24, true) === COLON_QUOTE
    if (!isString) return this.#otherEnd(keyEnd)
    const b = this.#b
    const end = specialAt(words, keyEnd + 26, b.length)
    if (b[end] !== QUOTE) return NOT_PLAIN
    this.stringStart = keyEnd + 26
    this.stringEnd = end
    return end + 1
  }

  /** After a value of another kind. */
  #otherEnd(keyEnd: number): number {
    const words = this.#words
    const b = this.#b
    this.stringStart = NOT_PLAIN
    if (!isAt(words, keyEnd, OPEN_VALUE)) return NOT_PLAIN
    const kind = keyEnd + 12
    const first = words.getInt32(kind, true)
    if (first === INT[0])
      return isAt(words, kind, INT) && words.getUint16(kind + 8, true) === QUOTE_COLON ? integerEnd(b, kind + 10) : NOT_PLAIN
    if (first === DOUBLE[0]) return isAt(words, kind, DOUBLE) && b[kind + 12] === COLON ? doubleEnd(b, kind + 13) : NOT_PLAIN
    if (first === BOOL[0] && isAt(words, kind, BOOL) && words.getUint16(kind + 8, true) === E_QUOTE && b[kind + 10] === COLON)
      return boolEnd(b, kind + 11)
    return NOT_PLAIN
  }

  /** Where the text of the string starts that is all of the value whose brace stands at `open`. */
  stringValueStart(open: number): number {
    const words = this.#words
    const isString =
      open + 16 <= this.#b.length && words.getFloat64(open, true) === OPEN_STRING_1 && words.getFloat64(open + 8, true) === OPEN_STRING_2
    return isString ? open + 16 : NOT_PLAIN
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
