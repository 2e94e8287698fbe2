/** Texts looked at and moved four bytes at a time, as little-endian words. */

/** Fewer bytes than this are moved faster by fours than by a call (measured). */
export const SHORT_BYTES = 96

/** The high bit of each byte, and a one, a space, a quote, a backslash in each. */
export const HIGH_BITS = 0x80808080 | 0
const ONES = 0x01010101
const SPACES = 0x20202020
const QUOTES = 0x22222222
const BACKSLASHES = 0x5c5c5c5c

/** Has a high bit where a word holds anything but ASCII that stands for itself inside a string. */
export function marks(word: number): number {
  return word | (word - SPACES) | ((word ^ QUOTES) - ONES) | ((word ^ BACKSLASHES) - ONES)
}

/** Whether a word holds a control character, a quote or a backslash. */
export function needsEscape(word: number): boolean {
  const quote = word ^ QUOTES
  const backslash = word ^ BACKSLASHES
  return ((((word - SPACES) & ~word) | ((quote - ONES) & ~quote) | ((backslash - ONES) & ~backslash)) & HIGH_BITS) !== 0
}

/**
 * The next control character, quote or backslash in a text of `length` bytes; where there is none, up to three bytes before its end. A view that
 * is asked for its length takes a call each time.
 */
export function specialAt(text: DataView, from: number, length: number): number {
  const last = length - 4
  let p = from
  for (; p <= last; p += 4) {
    const word = text.getInt32(p, true)
    const quote = word ^ QUOTES
    const backslash = word ^ BACKSLASHES
    const found = (((word - SPACES) & ~word) | ((quote - ONES) & ~quote) | ((backslash - ONES) & ~backslash)) & HIGH_BITS
    // A mark may be wrong only above one that is right: the lowest one counts.
    if (found !== 0) return p + ((31 - Math.clz32(found & -found)) >> 3)
  }
  return p
}

/** Whether a word holds digits and the letters from a to f alone. */
export function areLowerHex(word: number): boolean {
  const fromZero = word + 0x50505050
  const behindNine = word + 0x46464646
  const fromA = word + 0x1f1f1f1f
  const behindF = word + 0x19191919
  return (~word & fromZero & (~behindNine | (fromA & ~behindF)) & HIGH_BITS) === HIGH_BITS
}

/** Moves bytes within `bytes`, all of which `view` is of, to `at`; returns where they end. Three bytes behind that are not what they were. */
export function moveBytes(bytes: Uint8Array, view: DataView, from: number, to: number, at: number): number {
  const length = to - from
  if (length < SHORT_BYTES) for (let i = 0; i < length; i += 4) view.setInt32(at + i, view.getInt32(from + i, true), true)
  else bytes.copyWithin(at, from, to)
  return at + length
}

/** Copies bytes from one memory to `at` of another, and writes no byte behind them. */
export function copyInWords(from: DataView, start: number, end: number, to: DataView, at: number): void {
  let p = start
  let q = at
  for (; p + 4 <= end; p += 4, q += 4) to.setInt32(q, from.getInt32(p, true), true)
  for (; p < end; p++, q++) to.setUint8(q, from.getUint8(p))
}
