/** Makes hashes of the words of a JSON string from its bytes. */
import { JOINS, KIND, SHORT_ESCAPE, WORD } from '../../../analysis/ascii-classes.ts'
import { MAX_TOKEN_LENGTH } from '../../../analysis/standard-analyzer.ts'
import { NUMBERED_HI, NUMBERED_LO, type NumberedStarts } from '../format/block/message-shapes.ts'
import type { WordPairs } from '../format/segment-index/word-pairs.ts'
import { finishHash, type Seeds } from '../format/term-hash.ts'

/**
 * The standard analyzer over the raw bytes of a JSON string, for ASCII: hashes each token on the way and never makes a string.
 * Characters beyond ASCII, and escapes other than the short ones, are left to the analyzer on strings.
 */

// Numbers and tables stand in the functions themselves: a constant of another module is fetched anew for each byte (measured).

/** The lower-cased byte of a word's character, and in the bits above the kind of the character. */
const KIND_AT = 8
const CHARACTERS = Uint16Array.from({ length: 256 }, (_, c) => WORD[c]! | (KIND[c]! << KIND_AT))

/** Result of a run over one string: where it stopped and how far the output went. */
export interface TokenizerState {
  /** Just behind the closing quote, or −1: use the slow path. */
  position: number
  /** Next free index of the output. */
  out: number
  /** Takes in words of letters alone that stand next to each other. */
  pairs?: WordPairs
  /** Takes in how words with digits or underscores begin. */
  starts?: NumberedStarts | undefined
  /** Hash of the text's shape. */
  shapeLo: number
  shapeHi: number
}

/**
 * Tokens of the JSON string whose first byte (behind the quote) is `at`; writes `[lo, hi]` pairs from `state.out` on.
 * A text without an end is read up to the end of the memory that it stands in, where a byte is `undefined` and no part of a word.
 */
export function tokenizeJsonString(bytes: Uint8Array, at: number, end: number, seeds: Seeds, out: Int32Array, state: TokenizerState): void {
  const characters = CHARACTERS
  const joinsOf = JOINS
  let i = at
  let n = state.out
  const { pairs, starts } = state
  let shapeLo = 0
  let shapeHi = 0
  let isAfterLetters = false
  const seedLo = seeds.lo
  const seedHi = seeds.hi
  state.position = -1
  while (i < end) {
    let c = bytes[i]!
    let word = characters[c]!
    if (word === 0) {
      if (c === 0x22) {
        state.position = i + 1
        state.out = n
        state.shapeLo = shapeLo
        state.shapeHi = shapeHi
        return
      }
      if (c >= 0x80 || c < 0x20) return
      if (c === 0x5c) {
        if (SHORT_ESCAPE[bytes[i + 1]!] === 0) return
        i++
      }
      i++
      continue
    }
    const start = i
    let lo = seedLo
    let hi = seedHi
    let kinds = 0
    for (;;) {
      do {
        lo = Math.imul(lo ^ (word & 0xff), 0x9e3779b1)
        hi = Math.imul(((hi << 5) | (hi >>> 27)) ^ (word & 0xff), 0x85ebca6b)
        kinds |= word
        c = bytes[++i]!
        word = characters[c]! | 0
      } while (word !== 0)
      const joins = joinsOf[c]!
      if (joins === 0) break
      const before = characters[bytes[i - 1]!]! >>> KIND_AT
      if ((joins & before) === 0 || before === 3 || characters[bytes[i + 1]!]! >>> KIND_AT !== before) break
      lo = Math.imul(lo ^ c, 0x9e3779b1)
      hi = Math.imul(((hi << 5) | (hi >>> 27)) ^ c, 0x85ebca6b)
      c = bytes[++i]!
      word = characters[c]! | 0
    }
    kinds >>>= KIND_AT
    if (c >= 0x80 || i - start > MAX_TOKEN_LENGTH) return
    // A word of connectors alone has only bit pattern 3 from `_`, which letters (1) and digits (2) together make too.
    if (kinds === 3 && isConnectorsOnly(bytes, start, i)) continue
    finishHash(lo, hi, out, n)
    const isLetters = kinds === 1
    if (isLetters && isAfterLetters && pairs !== undefined) pairs.add(out[n - 2]!, out[n - 1]!, out[n]!, out[n + 1]!)
    isAfterLetters = isLetters
    shapeLo = Math.imul(shapeLo ^ (isLetters ? out[n]! : NUMBERED_LO), 0x9e3779b1)
    shapeHi = Math.imul(((shapeHi << 5) | (shapeHi >>> 27)) ^ (isLetters ? out[n + 1]! : NUMBERED_HI), 0x85ebca6b)
    if (!isLetters && starts !== undefined) starts.add(lowerAt(bytes, start, i), lowerAt(bytes, start + 1, i), lowerAt(bytes, start + 2, i))
    n += 2
  }
}

/** The character of a word that ends at `end`, in lower case; 0 behind its end. */
const lowerAt = (bytes: Uint8Array, at: number, end: number): number => (at < end ? WORD[bytes[at]!]! || bytes[at]! : 0)

function isConnectorsOnly(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (KIND[bytes[i]!] !== 3) return false
  return true
}

/** Result of hashing a whole JSON string. */
export interface KeywordState {
  /** Behind the closing quote, or −1 for an escape, a control character or no end. */
  position: number
  hasNonAscii: boolean
}

/** Hashes the JSON string at `at` as one term into `out[n]`, `out[n + 1]`. */
export function hashJsonString(
  bytes: Uint8Array,
  at: number,
  end: number,
  seeds: Seeds,
  out: Int32Array,
  n: number,
  state: KeywordState,
): void {
  let lo = seeds.lo
  let hi = seeds.hi
  let bits = 0
  state.position = -1
  for (let i = at; i < end; i++) {
    const c = bytes[i]!
    if (c === 0x22) {
      finishHash(lo, hi, out, n)
      state.position = i + 1
      state.hasNonAscii = bits >= 0x80
      return
    }
    if (c === 0x5c || c < 0x20) return
    bits |= c
    lo = Math.imul(lo ^ c, 0x9e3779b1)
    hi = Math.imul(((hi << 5) | (hi >>> 27)) ^ c, 0x85ebca6b)
  }
}
