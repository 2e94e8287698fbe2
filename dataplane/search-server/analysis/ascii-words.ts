import { JOINS, KIND, SHORT_ESCAPE, WORD } from './ascii-classes.ts'
import { MAX_TOKEN_LENGTH } from './standard-analyzer.ts'

const BACKSLASH = 0x5c
const UNDERSCORE = 3

/** The words that the standard analyzer finds in a JSON string of ASCII, as places in its bytes; made for use again and again. */
export class AsciiWords {
  count = 0
  #bytes: Uint8Array = new Uint8Array(0)
  #starts = new Int32Array(64)
  #ends = new Int32Array(64)

  /** Takes the string's bytes without quotes; false for what only the analyzer itself can tell: beyond ASCII, `\u`, overlong words. */
  read(bytes: Uint8Array): boolean {
    this.#bytes = bytes
    this.count = 0
    const { length } = bytes
    for (let at = 0; at < length; ) {
      const c = bytes[at]!
      if (WORD[c] !== 0) {
        const end = wordEnd(bytes, at)
        if (end - at > MAX_TOKEN_LENGTH || (end < length && bytes[end]! >= 0x80)) return false
        if (!isOfUnderscores(bytes, at, end)) this.#add(at, end)
        at = end
      } else if (c === BACKSLASH) {
        if (SHORT_ESCAPE[bytes[at + 1]!] === 0) return false
        at += 2
      } else if (c >= 0x80) return false
      else at++
    }
    return true
  }

  #add(start: number, end: number): void {
    if (this.count === this.#starts.length) {
      this.#starts = doubled(this.#starts)
      this.#ends = doubled(this.#ends)
    }
    this.#starts[this.count] = start
    this.#ends[this.count++] = end
  }

  /** Whether word `k` is this one, given in lower case. */
  is(k: number, word: Uint8Array): boolean {
    return this.#ends[k]! - this.#starts[k]! === word.length && this.startsWith(k, word)
  }

  startsWith(k: number, word: Uint8Array): boolean {
    const start = this.#starts[k]!
    if (this.#ends[k]! - start < word.length) return false
    for (let i = 0; i < word.length; i++) {
      const c = this.#bytes[start + i]!
      // Within a word only joining characters are none of a word's own.
      if ((WORD[c] || c) !== word[i]) return false
    }
    return true
  }
}

/** End of the word that starts at `at`. */
function wordEnd(bytes: Uint8Array, at: number): number {
  let i = at
  for (;;) {
    do i++
    while (i < bytes.length && WORD[bytes[i]!] !== 0)
    if (i === bytes.length) return i
    const joins = JOINS[bytes[i]!]!
    const before = KIND[bytes[i - 1]!]!
    if ((joins & before) === 0 || before === UNDERSCORE || i + 1 === bytes.length || KIND[bytes[i + 1]!] !== before) return i
    i++
  }
}

function isOfUnderscores(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (KIND[bytes[i]!] !== UNDERSCORE) return false
  return true
}

function doubled(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(2 * array.length)
  grown.set(array)
  return grown
}
