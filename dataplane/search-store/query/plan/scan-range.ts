/** Documents whose number lies in a range. */
import type { NumberColumn } from '../../storage/index-storage.ts'
import { inRange, type NumberRange } from '../bind/condition.ts'
import { type DocSet, newBits, setBit } from './doc-set.ts'
import { readBlock } from './read-block.ts'

/** Blocks that lie in the range as a whole, or not at all, are not unpacked. */
export function scanRange(column: Pick<NumberColumn, 'values' | 'blocks'>, size: number, range: NumberRange): DocSet {
  const words = newBits(size)
  const bounds = closed(range)
  const { blocks } = column
  if (blocks === undefined) scan(column.values, size, bounds, words, 0)
  else {
    for (let block = 0; block < blocks.least.length; block++) {
      const first = block * blocks.length
      const count = Math.min(blocks.length, size - first)
      const least = blocks.least[block]!
      const greatest = blocks.greatest[block]!
      if (inRange(least, range) && inRange(greatest, range)) setBits(words, first, first + count)
      else if (greatest >= range.min && least <= range.max) scan(readBlock(blocks, block), count, bounds, words, first)
    }
  }
  return { kind: 'bits', words }
}

/** Sets the bits of documents from `first` on, of which `values` holds the numbers. */
function scan(values: Float64Array, count: number, [low, high]: Closed, words: Uint32Array, first: number): void {
  let at = 0
  for (; at < count && ((first + at) & 31) !== 0; at++) if (values[at]! >= low && values[at]! <= high) setBit(words, first + at)
  for (; at + 32 <= count; at += 32) {
    let word = 0
    // Matches lie anywhere: a sum is quicker than a branch that is guessed wrong.
    for (let k = 0; k < 32; k++) word |= (Number(values[at + k]! >= low) & Number(values[at + k]! <= high)) << k
    words[(first + at) >>> 5] = word
  }
  for (; at < count; at++) if (values[at]! >= low && values[at]! <= high) setBit(words, first + at)
}

/** Both bounds are within it; NaN: nothing is. */
type Closed = readonly [low: number, high: number]

/** The same range with the next numbers as bounds, where the bounds themselves are not within it. */
function closed({ min, max, includeMin, includeMax }: NumberRange): Closed {
  return [includeMin ? min : numberAfter(min), includeMax ? max : -numberAfter(-max)]
}

const bits = new BigInt64Array(1)
const number = new Float64Array(bits.buffer)

/** The least double that is greater. */
function numberAfter(value: number): number {
  if (value === 0) return Number.MIN_VALUE
  number[0] = value
  bits[0]! += value > 0 ? 1n : -1n
  return number[0]!
}

function setBits(words: Uint32Array, from: number, to: number): void {
  for (let doc = from; doc < to; doc++) setBit(words, doc)
}
