import { endianness } from 'node:os'

const IS_LITTLE_ENDIAN = endianness() === 'LE'
const WORD_BYTES = 4

/** Some bytes that are looked for in others, four at a time. */
export interface ByteRun {
  readonly length: number
  /** Whether they stand at `at` of `view`, before `end`. */
  isAt(view: DataView, at: number, end: number): boolean
}

/** Takes a copy. */
export const byteRun = (source: Uint8Array): ByteRun => new WordRun(source)

class WordRun implements ByteRun {
  readonly length: number
  readonly #bytes: Uint8Array
  readonly #words: Int32Array

  constructor(source: Uint8Array) {
    this.length = source.length
    this.#bytes = Uint8Array.from(source)
    this.#words = new Int32Array(this.#bytes.buffer, 0, Math.floor(source.length / WORD_BYTES))
  }

  isAt(view: DataView, at: number, end: number): boolean {
    const { length } = this
    if (at + length > end) return false
    const words = this.#words
    const whole = words.length
    for (let w = 0; w < whole; w++) if (view.getInt32(at + WORD_BYTES * w, IS_LITTLE_ENDIAN) !== words[w]) return false
    const bytes = this.#bytes
    for (let k = WORD_BYTES * whole; k < length; k++) if (view.getUint8(at + k) !== bytes[k]) return false
    return true
  }
}
