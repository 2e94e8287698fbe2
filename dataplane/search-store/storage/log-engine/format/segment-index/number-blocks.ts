/**
 * Whole numbers that are near those of their neighbours, in so many bits as the differences within a block need. A block tells its bounds without being
 * unpacked, so that counts by time unpack those blocks alone that lie across a bound.
 *
 * `u32` words: for each block its least number above the base, and its range; then for each block its numbers above the least, beginning with a word.
 */
import type { NumberBlocks } from '../../../index-storage.ts'
import { bitsOf } from '../bytes/bit-numbers.ts'

/** Numbers of a block; the last one may have fewer. */
const BLOCK = 512
const HEAD_WORDS = 2

const blocksOf = (count: number): number => Math.ceil(count / BLOCK)
const wordsOf = (count: number, range: number): number => Math.ceil((count * bitsOf(range)) / 32)
const countIn = (block: number, count: number): number => Math.min(BLOCK, count - block * BLOCK)

/** `numbers` as distances from the base, below 2^32. */
export function packNumbers(numbers: Uint32Array): Uint32Array {
  const blocks = blocksOf(numbers.length)
  const head = new Uint32Array(HEAD_WORDS * blocks)
  let words = head.length
  for (let block = 0; block < blocks; block++) {
    let least = 0xffff_ffff
    let greatest = 0
    for (const number of numbers.subarray(block * BLOCK, (block + 1) * BLOCK)) {
      if (number < least) least = number
      if (number > greatest) greatest = number
    }
    head[HEAD_WORDS * block] = least
    head[HEAD_WORDS * block + 1] = greatest - least
    words += wordsOf(countIn(block, numbers.length), greatest - least)
  }
  const packed = new Uint32Array(words)
  packed.set(head)
  let at = head.length
  for (let block = 0; block < blocks; block++) {
    const [least, range] = [head[HEAD_WORDS * block]!, head[HEAD_WORDS * block + 1]!]
    const own = numbers.subarray(block * BLOCK, (block + 1) * BLOCK)
    const length = wordsOf(own.length, range)
    packBlock(own, least, bitsOf(range), packed.subarray(at, at + length))
    at += length
  }
  return packed
}

function packBlock(numbers: Uint32Array, least: number, bits: number, words: Uint32Array): void {
  for (let k = 0, place = 0; k < numbers.length; k++, place += bits) {
    const value = numbers[k]! - least
    const shift = place & 31
    if (bits > 0) words[place >>> 5]! |= value << shift
    if (shift + bits > 32) words[(place >>> 5) + 1]! |= value >>> (32 - shift)
  }
}

/** Numbers as they were packed, above `base`. The words are looked at when blocks are read. */
export class PackedNumbers implements NumberBlocks {
  readonly length = BLOCK
  readonly count: number
  readonly least: Float64Array
  readonly greatest: Float64Array
  readonly #words: Uint32Array
  readonly #base: number
  /** Where the numbers of each block begin, in words. */
  readonly #starts: Uint32Array

  constructor(words: Uint32Array, count: number, base: number) {
    const blocks = blocksOf(count)
    this.count = count
    this.least = new Float64Array(blocks)
    this.greatest = new Float64Array(blocks)
    this.#words = words
    this.#base = base
    this.#starts = new Uint32Array(blocks)
    for (let block = 0, at = HEAD_WORDS * blocks; block < blocks; block++) {
      const [least, range] = [words[HEAD_WORDS * block]!, words[HEAD_WORDS * block + 1]!]
      this.least[block] = base + least
      this.greatest[block] = base + least + range
      this.#starts[block] = at
      at += wordsOf(countIn(block, count), range)
    }
  }

  get sizeBytes(): number {
    return this.#words.byteLength + 20 * this.#starts.length + 200
  }

  read(block: number, into: Float64Array, at: number): void {
    const words = this.#words
    const count = countIn(block, this.count)
    const from = this.#base + words[HEAD_WORDS * block]!
    const bits = bitsOf(words[HEAD_WORDS * block + 1]!)
    const mask = bits === 32 ? 0xffff_ffff : 2 ** bits - 1
    const start = this.#starts[block]!
    for (let k = 0, place = 0; k < count; k++, place += bits) {
      const word = start + (place >>> 5)
      const shift = place & 31
      let value = bits === 0 ? 0 : words[word]! >>> shift
      if (shift + bits > 32) value |= words[word + 1]! << (32 - shift)
      into[at + k] = from + ((value & mask) >>> 0)
    }
  }

  all(): Float64Array {
    const values = new Float64Array(this.count)
    for (let block = 0; block < this.least.length; block++) this.read(block, values, block * BLOCK)
    return values
  }
}
