/**
 * Ascending numbers in few bits: of the distance to the number before, the low bits stand as they are, the rest as so many zeros and a one (Rice's code).
 * Lowest bits come first.
 */

/** Bytes behind a list that its writer may set to zero. */
export const SPARE_BYTES = 4
const MAX_BITS = 25
const MAX_ZEROS = 24

/** Writes up to 25 bits at a place, counted in bits. The bits behind are zero afterwards; returns the place behind. */
export function putBits(value: number, bits: number, out: Uint8Array, place: number): number {
  const at = place >>> 3
  const word = value << (place & 7)
  out[at]! |= word
  out[at + 1] = word >>> 8
  out[at + 2] = word >>> 16
  out[at + 3] = word >>> 24
  return place + bits
}

/** At least 25 bits from a place on; zeros stand behind the bytes. */
function wordAt(bytes: Uint8Array, place: number): number {
  const at = place >>> 3
  if (at + 4 <= bytes.length) return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> (place & 7)
  let word = 0
  for (let k = at; k < bytes.length; k++) word |= bytes[k]! << (8 * (k - at))
  return word >>> (place & 7)
}

export const bitsAtPlace = (bytes: Uint8Array, place: number, bits: number): number => wordAt(bytes, place) & ((1 << bits) - 1)

const trailingZeros = (word: number): number => 31 - Math.clz32(word & -word)

/** Puts `count` zeros, and a one. */
function putZeros(count: number, out: Uint8Array, place: number): number {
  let at = place
  let left = count
  for (; left >= MAX_ZEROS; left -= MAX_ZEROS) at = putBits(0, MAX_ZEROS, out, at)
  return putBits(1 << left, left + 1, out, at)
}

/** Low bits that suit `count` of the numbers below `size`. */
export const lowBits = (size: number, count: number): number => (count === 0 ? 0 : Math.max(0, 31 - Math.clz32((0.69 * size) / count)))

/** Writes ascending numbers; each may come once. Returns the place behind. The byte at `place` is zero before, from its bit on. */
export function packList(numbers: ArrayLike<number>, count: number, bits: number, out: Uint8Array, place: number): number {
  let at = place
  let before = -1
  for (let k = 0; k < count; k++) {
    const distance = numbers[k]! - before - 1
    before = numbers[k]!
    at = putZeros(distance >>> bits, out, at)
    at = putBits(distance & ((1 << bits) - 1), bits, out, at)
  }
  return at
}

/** The place behind the list that was unpacked last. */
export let placeBehind = 0

export function unpackList(bytes: Uint8Array, place: number, count: number, bits: number): Uint32Array {
  const numbers = new Uint32Array(count)
  unpackInto(numbers, bytes, place, count, bits)
  return numbers
}

let passing = new Uint32Array(256)

/** The same in memory that the next call takes again, which may be longer. */
export function unpackPassing(bytes: Uint8Array, place: number, count: number, bits: number): Uint32Array {
  if (passing.length < count) passing = new Uint32Array(2 * count)
  unpackInto(passing, bytes, place, count, bits)
  return passing
}

function unpackInto(numbers: Uint32Array, bytes: Uint8Array, place: number, count: number, bits: number): void {
  const mask = (1 << bits) - 1
  let at = place
  let before = -1
  for (let k = 0; k < count; k++) {
    let word = wordAt(bytes, at)
    let high = 0
    while (word === 0) {
      high += MAX_BITS
      at += MAX_BITS
      if (at >>> 3 > bytes.length) throw new Error('a list of documents ends too soon')
      word = wordAt(bytes, at)
    }
    const length = trailingZeros(word) + 1
    // In most cases the low bits stand in the same word.
    const low = length + bits <= MAX_BITS ? word >>> length : wordAt(bytes, at + length)
    before += 1 + (((high + length - 1) << bits) | (low & mask))
    at += length + bits
    numbers[k] = before
  }
  placeBehind = at
}
