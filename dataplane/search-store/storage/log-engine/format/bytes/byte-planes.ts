/**
 * Whole numbers below 2^32 for compression: the lowest byte of each, then the next of each, and so on. Lengths and offsets take a fifth
 * less so than as words.
 */
export const PLANED_BYTES = 4

export function writePlanes(values: Uint32Array, out: Uint8Array, at: number): void {
  const count = values.length
  for (let k = 0; k < count; k++) {
    const value = values[k]!
    out[at + k] = value
    out[at + count + k] = value >>> 8
    out[at + 2 * count + k] = value >>> 16
    out[at + 3 * count + k] = value >>> 24
  }
}

export function readPlanes(bytes: Uint8Array, at: number, count: number): Uint32Array {
  const values = new Uint32Array(count)
  for (let k = 0; k < count; k++) {
    const high = (bytes[at + 2 * count + k]! << 16) | (bytes[at + 3 * count + k]! << 24)
    values[k] = bytes[at + k]! | (bytes[at + count + k]! << 8) | high
  }
  return values
}
