/** Ascending documents by the blocks of a column that they lie in. */

/** Documents of the block are `docs[start]` … `docs[end − 1]`. False: no further block is wanted. */
type Visit = (block: number, start: number, end: number) => boolean

/** Calls `visit` for each block of `length` documents that holds some of `docs`. False: `visit` ended it. */
export function eachRun(docs: Uint32Array, length: number, visit: Visit): boolean {
  for (let start = 0; start < docs.length; ) {
    const block = Math.floor(docs[start]! / length)
    const limit = (block + 1) * length
    // A block has `length` documents at most.
    let end = start + 1
    let high = Math.min(docs.length, start + length)
    if (docs[high - 1]! < limit) end = high
    while (end < high) {
      const middle = (end + high) >>> 1
      if (docs[middle]! < limit) end = middle + 1
      else high = middle
    }
    if (!visit(block, start, end)) return false
    start = end
  }
  return true
}

/** The same from the last block on. */
export function eachRunBackwards(docs: Uint32Array, length: number, visit: (...run: Parameters<Visit>) => void): void {
  for (let end = docs.length; end > 0; ) {
    const block = Math.floor(docs[end - 1]! / length)
    const first = block * length
    let start = Math.max(0, end - length)
    let high = end - 1
    while (start < high) {
      const middle = (start + high) >>> 1
      if (docs[middle]! < first) start = middle + 1
      else high = middle
    }
    visit(block, start, end)
    end = start
  }
}
