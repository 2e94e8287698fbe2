/** The longest way to a free place in the table. A request that was made to be slow ends here. */
const MAX_PROBES = 16

/**
 * Marks with 1 every key that stands in the list more than once, by its place; undefined where there are none. Keys are integers of 32 bits
 * whose low bits are well mixed; where many of these are equal, others are marked, too.
 */
export function findEqualKeys(keys: ArrayLike<number>): Uint8Array | undefined {
  const count = keys.length
  if (count < 2) return undefined
  const mask = tableSize(count) - 1
  /** Places from 1 on. */
  const table = new Int32Array(mask + 1)
  let marked: Uint8Array | undefined
  for (let i = 0; i < count; i++) {
    const key = keys[i]!
    let slot = key & mask
    let other = table[slot]!
    let probes = 0
    while (other !== 0 && keys[other - 1] !== key && probes < MAX_PROBES) {
      slot = (slot + 1) & mask
      other = table[slot]!
      probes++
    }
    if (other === 0) {
      table[slot] = i + 1
      continue
    }
    marked ??= new Uint8Array(count)
    marked[i] = 1
    if (keys[other - 1] === key) marked[other - 1] = 1
  }
  return marked
}

/** A power of two, at least twice as many slots as keys. */
function tableSize(count: number): number {
  return 1 << (33 - Math.clz32(count))
}
