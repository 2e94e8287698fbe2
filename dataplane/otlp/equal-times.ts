/** The longest way to a free place in the table; requests made to be slow end here. */
const MAX_PROBES = 16

/**
 * Marks every record of a request whose time another one has, too, by number; undefined where there are none. Now and then it marks others:
 * keys are equal by chance, or made to be. `timeKeys` as in `time-key.ts`.
 */
export function recordsOfEqualTime(timeKeys: readonly number[]): Uint8Array | undefined {
  const count = timeKeys.length
  if (count < 2) return undefined
  const mask = tableSize(count) - 1
  /** Record numbers from 1 on. */
  const table = new Int32Array(mask + 1)
  let marked: Uint8Array | undefined
  for (let record = 0; record < count; record++) {
    const key = timeKeys[record]!
    let slot = key & mask
    let other = table[slot]!
    let probes = 0
    while (other !== 0 && timeKeys[other - 1] !== key && probes < MAX_PROBES) {
      slot = (slot + 1) & mask
      other = table[slot]!
      probes++
    }
    if (other === 0) {
      table[slot] = record + 1
      continue
    }
    marked ??= new Uint8Array(count)
    marked[record] = 1
    if (timeKeys[other - 1] === key) marked[other - 1] = 1
  }
  return marked
}

/** A power of two, at least twice as many places as records. */
function tableSize(count: number): number {
  return 1 << (33 - Math.clz32(count))
}
