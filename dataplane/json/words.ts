/** Texts looked at four bytes at a time, as little-endian words. */

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

/** How far the bytes between the two positions stand for themselves inside a string, whole words at a time: up to three more may follow. */
export function plainEnd(text: DataView, from: number, end: number): number {
  const last = end - 4
  let p = from
  while (p <= last && !needsEscape(text.getInt32(p, true))) p += 4
  return p
}
