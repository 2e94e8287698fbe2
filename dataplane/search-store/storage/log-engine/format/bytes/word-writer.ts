/** Words of 16 bits written one behind the other into memory that grows, and read again. */
import { grown } from '../../../../grown.ts'

/** Words one behind the other. */
export class WordWriter {
  words = new Uint16Array(1 << 12)
  length = 0

  clear(): void {
    this.length = 0
  }

  /** Makes room for so many more. */
  reserve(count: number): void {
    if (this.length + count > this.words.length) this.words = grown(this.words, Math.max(2 * this.words.length, this.length + count))
  }

  /** Writes 32 bits. */
  long(value: number): void {
    this.words[this.length++] = value
    this.words[this.length++] = value >>> 16
  }

  written(): Uint16Array {
    return this.words.subarray(0, this.length)
  }
}

export class WordReader {
  readonly words: Uint16Array
  at = 0

  constructor(words: Uint16Array) {
    this.words = words
  }

  long(): number {
    this.at += 2
    return this.words[this.at - 2]! | (this.words[this.at - 1]! << 16)
  }
}
