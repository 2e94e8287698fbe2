import type { NumberBlocks } from '../../storage/index-storage.ts'

let scratch = new Float64Array(0)

/** The numbers of a block, until the next one is read. */
export function readBlock(blocks: NumberBlocks, block: number): Float64Array {
  if (scratch.length < blocks.length) scratch = new Float64Array(blocks.length)
  blocks.read(block, scratch, 0)
  return scratch
}
