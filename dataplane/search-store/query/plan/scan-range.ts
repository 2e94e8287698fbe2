/** Documents whose number lies in a range. */
import type { NumberColumn } from '../../storage/index-storage.ts'
import { inRange, type NumberRange } from '../bind/condition.ts'
import { type DocSet, newBits, setBit } from './doc-set.ts'
import { readBlock } from './read-block.ts'

/** Blocks that lie in the range as a whole, or not at all, are not unpacked. */
export function scanRange(column: Pick<NumberColumn, 'values' | 'blocks'>, size: number, range: NumberRange): DocSet {
  const words = newBits(size)
  const { blocks } = column
  if (blocks === undefined) scan(column.values, size, range, words, 0)
  else {
    for (let block = 0; block < blocks.least.length; block++) {
      const first = block * blocks.length
      const count = Math.min(blocks.length, size - first)
      const least = blocks.least[block]!
      const greatest = blocks.greatest[block]!
      if (inRange(least, range) && inRange(greatest, range)) setBits(words, first, first + count)
      else if (greatest >= range.min && least <= range.max) scan(readBlock(blocks, block), count, range, words, first)
    }
  }
  return { kind: 'bits', words }
}

/** Sets the bits of documents from `first` on, of which `values` holds the numbers. */
function scan(
  values: Float64Array,
  count: number,
  { min, max, includeMin, includeMax }: NumberRange,
  words: Uint32Array,
  first: number,
): void {
  for (let at = 0; at < count; at++) {
    const value = values[at]!
    if ((value > min || (includeMin && value === min)) && (value < max || (includeMax && value === max))) setBit(words, first + at)
  }
}

function setBits(words: Uint32Array, from: number, to: number): void {
  for (let doc = from; doc < to; doc++) setBit(words, doc)
}
