import { endianness } from 'node:os'

const IS_LITTLE_ENDIAN = endianness() === 'LE'
const WORD_BYTES = 8

/** Some bytes of a JSON text that are looked for in others, eight at a time. */
export interface ByteRun {
  readonly length: number
  readonly bytes: Uint8Array
  /** Whether they stand at `at` of `view`, before `end`. */
  isAt(view: DataView, at: number, end: number): boolean
}

/** Takes a copy. */
export const byteRun = (source: Uint8Array): ByteRun => new WordRun(source)

/**
 * Eight bytes are compared as one double. Two doubles are equal where their bytes are, but for zero, which has two forms, and NaN, which equals
 * nothing: no text holds the bytes of either.
 */
class WordRun implements ByteRun {
  readonly length: number
  readonly bytes: Uint8Array
  readonly #words: Float64Array
  readonly #wholeBytes: number
  /** The last eight bytes, where there are so many and the words do not end with them. */
  readonly #last: number

  constructor(source: Uint8Array) {
    const { length } = source
    const view = new DataView(Uint8Array.from(source).buffer)
    this.length = length
    this.#words = Float64Array.from({ length: Math.floor(length / WORD_BYTES) }, (_, w) =>
      view.getFloat64(WORD_BYTES * w, IS_LITTLE_ENDIAN),
    )
    this.#wholeBytes = WORD_BYTES * this.#words.length
    this.bytes = Uint8Array.from(source)
    this.#last = length > WORD_BYTES ? view.getFloat64(length - WORD_BYTES, IS_LITTLE_ENDIAN) : 0
  }

  isAt(view: DataView, at: number, end: number): boolean {
    const { length } = this
    if (at + length > end) return false
    const words = this.#words
    for (let w = 0, p = at; w < words.length; w++, p += WORD_BYTES) if (view.getFloat64(p, IS_LITTLE_ENDIAN) !== words[w]) return false
    if (this.#wholeBytes === length) return true
    if (length > WORD_BYTES) return view.getFloat64(at + length - WORD_BYTES, IS_LITTLE_ENDIAN) === this.#last
    const { bytes } = this
    for (let k = this.#wholeBytes; k < length; k++) if (view.getUint8(at + k) !== bytes[k]) return false
    return true
  }
}
