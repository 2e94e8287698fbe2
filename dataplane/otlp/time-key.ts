/**
 * Small numbers by which records of equal time, and of these the equal ones, are found. What is equal has equal keys; others have different
 * ones but by chance. A key fits into 31 bits, so that it costs no memory beside the list that holds it.
 */

/** The key of a time that is not known. */
export const UNKNOWN_TIME_KEY = 0

const MAX_KEYED_BYTES = 256
/** Times have 19 digits: the last 16 tell them apart within four months. */
const MAX_DIGITS = 16

/** The key of the decimal digits between two positions; they have no leading zeros. */
export function keyOfDigits(text: DataView, start: number, end: number): number {
  let key = 0
  let p = end
  for (let last = Math.max(start, end - MAX_DIGITS) + 4; p >= last; p -= 4) key = mixed(key, text.getInt32(p - 4, true))
  if (end - start < MAX_DIGITS) for (; p > start; p--) key = mixed(key, text.getUint8(p - 1))
  return known(key)
}

/** A key of some bytes together with another key: how long they are, and the first of them. */
export function keyWithBytes(key: number, bytes: Uint8Array): number {
  let hash = mixed(key, bytes.length)
  const end = Math.min(bytes.length, MAX_KEYED_BYTES)
  for (let p = 0; p < end; p++) hash = mixed(hash, bytes[p]!)
  return known(hash)
}

/** The key of `high` × 2^32 + `low`. */
export function keyOfWords(high: number, low: number): number {
  return known(mixed(mixed(0, low), high))
}

function mixed(key: number, word: number): number {
  const product = Math.imul(key ^ word, 0x9e3779b1)
  return product ^ (product >>> 15)
}

/** Spreads a hash over all bits before two of them are given up. */
function known(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const key = Math.imul(half ^ (half >>> 13), 0xc2b2ae35)
  return ((key ^ (key >>> 16)) & 0x3fffffff) | 0x40000000
}
