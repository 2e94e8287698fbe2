/**
 * The 64-bit key of a (field, term), in two signed 32-bit halves: two lanes run over the term's UTF-8 bytes from the field's seeds,
 * then a bijective mixing. The byte loops of the walker repeat the lane steps inline; `addByteLo`/`addByteHi` are their definition.
 */
const LANE_LO = 0x9e3779b1 | 0
export const LANE_HI = 0x85ebca6b | 0

export const addByteLo = (lo: number, byte: number) => Math.imul(lo ^ byte, LANE_LO)
export const addByteHi = (hi: number, byte: number) => Math.imul(((hi << 5) | (hi >>> 27)) ^ byte, LANE_HI)

export interface Seeds {
  readonly lo: number
  readonly hi: number
}

const encoder = new TextEncoder()

/** Where a field's terms start: the lanes over its full path. */
export function fieldSeeds(path: string): Seeds {
  let lo = 0x2545f491
  let hi = 0x1b873593
  for (const byte of encoder.encode(path)) {
    lo = addByteLo(lo, byte)
    hi = addByteHi(hi, byte)
  }
  return { lo: scramble(lo ^ 0x5bd1e995), hi: scramble(hi ^ 0x27d4eb2f) }
}

/** Murmur3's finaliser. */
export function scramble(value: number): number {
  let x = value ^ (value >>> 16)
  x = Math.imul(x, 0x85ebca6b)
  x ^= x >>> 13
  x = Math.imul(x, 0xc2b2ae35)
  return x ^ (x >>> 16)
}

/** Mixes the two lanes (a Feistel network, so nothing is lost) and writes `[lo, hi]` to `out[at]`. */
export function finishHash(lo: number, hi: number, out: Int32Array, at: number): void {
  let b = hi ^ scramble(lo)
  const a = lo ^ scramble(b)
  b ^= scramble((a + 0x165667b1) | 0)
  out[at] = a
  // The table keeps 0 for "no entry".
  out[at + 1] = b === 0 ? 1 : b
}

let scratch = new Uint8Array(1024)

/** Hashes a term given as text; the exact and slower twin of the byte loops. */
export function hashTerm(seeds: Seeds, term: string, out: Int32Array, at: number): void {
  if (scratch.length < term.length * 3) scratch = new Uint8Array(term.length * 3)
  const { written } = encoder.encodeInto(term, scratch)
  hashBytes(seeds, scratch, 0, written, out, at)
}

function hashBytes(seeds: Seeds, bytes: Uint8Array, start: number, end: number, out: Int32Array, at: number): void {
  let lo = seeds.lo
  let hi = seeds.hi
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    lo = Math.imul(lo ^ byte, LANE_LO)
    hi = Math.imul(((hi << 5) | (hi >>> 27)) ^ byte, LANE_HI)
  }
  finishHash(lo, hi, out, at)
}
