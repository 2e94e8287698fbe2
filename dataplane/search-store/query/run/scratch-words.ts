/** Words for one piece of work that nothing interrupts: new arrays for each segment of a search would be much garbage. */

/** Longer arrays are not kept, words. */
const MAX_KEPT = 1 << 16

const kept = new Map<string, Uint32Array>()

/** `count` words, all 0, until the next ones of this name are asked for. */
export function zeroedWords(name: 'cells' | 'buckets' | 'numbers' | 'counts' | 'places', count: number): Uint32Array {
  if (count > MAX_KEPT) return new Uint32Array(count)
  let words = kept.get(name)
  if (words === undefined) {
    words = new Uint32Array(MAX_KEPT)
    kept.set(name, words)
  }
  return words.subarray(0, count).fill(0)
}
