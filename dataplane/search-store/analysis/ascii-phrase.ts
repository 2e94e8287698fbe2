/** Looks for a phrase in bytes, without making a string. */
import { grown } from '../grown.ts'
import { JOINS, KIND, SHORT_ESCAPE, WORD } from './ascii-classes.ts'
import { MAX_TOKEN_LENGTH } from './standard-analyzer.ts'

const UNDERSCORE = 3
const BACKSLASH = 4
const BEYOND_ASCII = 5

/** 0 for what parts words, else a word's kind (1 to 3) or one of the above. */
const CLASS = Uint8Array.from(KIND, (kind, c) => (c >= 0x80 ? BEYOND_ASCII : c === 0x5c ? BACKSLASH : kind))

const isWordClass = (kind: number) => (kind - 1) >>> 0 < UNDERSCORE

/**
 * Looks for words next to each other in the bytes of a JSON string, as the standard analyzer would find them, without making a string.
 * Made for one phrase and many strings.
 */
export class AsciiPhrase {
  readonly #words: readonly Uint8Array[]
  readonly #lastIsPrefix: boolean
  #bytes: Uint8Array = new Uint8Array(0)
  /** Places of the words found so far. */
  #starts = new Int32Array(64)
  #ends = new Int32Array(64)

  /** `words` in lower case and UTF-8, at least one. */
  constructor(words: readonly Uint8Array[], lastIsPrefix: boolean) {
    this.#words = words
    this.#lastIsPrefix = lastIsPrefix
  }

  /** Takes the string without its quotes; undefined where only the analyzer can tell: beyond ASCII, `\u`, overlong words. */
  isIn(bytes: Uint8Array): boolean | undefined {
    this.#bytes = bytes
    const { length } = bytes
    let count = 0
    let at = 0
    while (at < length) {
      let kind = CLASS[bytes[at]!]!
      if (kind === 0) {
        at++
        continue
      }
      if (kind === BEYOND_ASCII) return undefined
      if (kind === BACKSLASH) {
        if (SHORT_ESCAPE[bytes[at + 1]!] === 0) return undefined
        at += 2
        continue
      }
      const start = at
      let kinds = 0
      for (;;) {
        let before: number
        do {
          kinds |= kind
          before = kind
          at++
          kind = at < length ? CLASS[bytes[at]!]! : 0
        } while (isWordClass(kind))
        if (at + 1 >= length || (JOINS[bytes[at]!]! & before) === 0 || before === UNDERSCORE || KIND[bytes[at + 1]!] !== before) break
        at++
        kind = before
      }
      if (at - start > MAX_TOKEN_LENGTH || this.#mayGoOn(at)) return undefined
      // Kind 3 is what letters (1) and digits (2) together make too.
      if (kinds === UNDERSCORE && this.#isOfUnderscores(start, at)) continue
      this.#note(count++, start, at)
      if (this.#endsWith(count)) return true
    }
    return false
  }

  /** Whether the word that ends here may be joined with what only the analyzer knows. */
  #mayGoOn(at: number): boolean {
    return this.#isStrange(at) || (JOINS[this.#bytes[at] ?? 0] !== 0 && this.#isStrange(at + 1))
  }

  #isStrange(at: number): boolean {
    if (at >= this.#bytes.length) return false
    const kind = CLASS[this.#bytes[at]!]
    return kind === BEYOND_ASCII || (kind === BACKSLASH && SHORT_ESCAPE[this.#bytes[at + 1]!] === 0)
  }

  #note(k: number, start: number, end: number): void {
    if (k === this.#starts.length) {
      this.#starts = grown(this.#starts)
      this.#ends = grown(this.#ends)
    }
    this.#starts[k] = start
    this.#ends[k] = end
  }

  #isOfUnderscores(start: number, end: number): boolean {
    for (let i = start; i < end; i++) if (KIND[this.#bytes[i]!] !== UNDERSCORE) return false
    return true
  }

  /** Whether the first `count` words end with the phrase. */
  #endsWith(count: number): boolean {
    const words = this.#words
    const last = words.length - 1
    if (count <= last || !this.#isWord(count - 1, words[last]!, this.#lastIsPrefix)) return false
    for (let k = 0; k < last; k++) if (!this.#isWord(count - words.length + k, words[k]!, false)) return false
    return true
  }

  #isWord(k: number, word: Uint8Array, isPrefix: boolean): boolean {
    const start = this.#starts[k]!
    const length = this.#ends[k]! - start
    if (isPrefix ? length < word.length : length !== word.length) return false
    for (let i = 0; i < word.length; i++) {
      const c = this.#bytes[start + i]!
      // Within a word only joining characters are none of a word's own.
      if ((WORD[c] || c) !== word[i]) return false
    }
    return true
  }
}
