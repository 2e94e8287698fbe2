import { SHORT_BYTES } from '../../../../json/words.ts'

const WORD_BYTES = 4

/** Bytes that are written into many records. */
export class Piece {
  readonly bytes: Uint8Array
  readonly length: number
  /** The bytes by fours, zeros behind them; none of long pieces. */
  readonly #words: Int32Array

  constructor(bytes: Uint8Array) {
    const { length } = bytes
    this.bytes = bytes
    this.length = length
    const padded = Buffer.alloc(length < SHORT_BYTES ? WORD_BYTES * Math.ceil(length / WORD_BYTES) : 0)
    padded.set(bytes.subarray(0, padded.length))
    this.#words = Int32Array.from({ length: padded.length / WORD_BYTES }, (_, i) => padded.readInt32LE(WORD_BYTES * i))
  }

  /** Writes them at `at` of `target`, all of which `view` is of; returns where they end. The bytes behind are not what they were. */
  put(target: Uint8Array, view: DataView, at: number): number {
    const words = this.#words
    for (let i = 0, p = at; i < words.length; i++, p += WORD_BYTES) view.setInt32(p, words[i]!, true)
    if (words.length === 0) target.set(this.bytes, at)
    return at + this.length
  }
}

export const pieceOf = (text: string): Piece => new Piece(Buffer.from(text))
