/**
 * Which words stand next to each other somewhere in the texts of a segment: a Bloom filter, so that a phrase whose words never do is not looked
 * for in every text that holds them. Words of letters alone count: numbers and ids would fill it with pairs that come once.
 */

/** Bits, a power of two. A few thousand pairs, as of some hundred templates of messages, leave less than 1 % of wrong guesses. */
const BITS = 1 << 17
export const WORD_PAIRS_BYTES = BITS / 8

export class WordPairs {
  readonly #bits: Uint32Array

  constructor(bits = new Uint32Array(BITS / 32)) {
    this.#bits = bits
  }

  /** Words by their `[lo, hi]` hashes in their field. */
  add(firstLo: number, firstHi: number, lo: number, hi: number): void {
    const bits = this.#bits
    const a = Math.imul(firstHi, 0x9e3779b1) ^ hi
    const b = Math.imul(firstLo, 0x85ebca6b) ^ lo
    bits[(a >>> 15) >>> 5]! |= 1 << ((a >>> 15) & 31)
    bits[(b >>> 15) >>> 5]! |= 1 << ((b >>> 15) & 31)
  }

  /** False: no text of the segment holds the two next to each other. */
  mayHold(firstLo: number, firstHi: number, lo: number, hi: number): boolean {
    const a = (Math.imul(firstHi, 0x9e3779b1) ^ hi) >>> 15
    const b = (Math.imul(firstLo, 0x85ebca6b) ^ lo) >>> 15
    return (this.#bits[a >>> 5]! & (1 << (a & 31))) !== 0 && (this.#bits[b >>> 5]! & (1 << (b & 31))) !== 0
  }

  /** Sets in `known` the bits that are set here and not there: `[word, bits]` of each changed word. */
  changesSince(known: Uint32Array): number[] {
    const bits = this.#bits
    const changes: number[] = []
    for (let word = 0; word < bits.length; word++) {
      if (bits[word] === known[word]) continue
      known[word] = bits[word]!
      changes.push(word, bits[word]! | 0)
    }
    return changes
  }

  clear(): void {
    this.#bits.fill(0)
  }

  /** `[word, bits]` of each word with a pair. */
  changes(): number[] {
    return this.changesSince(new Uint32Array(this.#bits.length))
  }

  /** Takes in what `changesSince` gave elsewhere. */
  addChanges(changes: Int32Array): void {
    for (let k = 0; k < changes.length; k += 2) this.#bits[changes[k]!]! |= changes[k + 1]!
  }

  /** For `of`. */
  toBytes(): Uint8Array {
    return new Uint8Array(this.#bits.buffer, this.#bits.byteOffset, this.#bits.byteLength)
  }

  /** Undefined where the bytes are of another size. */
  static of(bytes: Uint8Array): WordPairs | undefined {
    return bytes.length === WORD_PAIRS_BYTES ? new WordPairs(new Uint32Array(Uint8Array.from(bytes).buffer)) : undefined
  }
}

/** Words that a phrase may be ruled out by: every text that holds two of them in a row has brought the pair in. */
export const isPairWord = (word: string): boolean => /^[a-z]+$/.test(word)

/** Words that bring pairs in, at least those above. */
export const bringsPairs = (word: string): boolean => !/[0-9_]/.test(word)
