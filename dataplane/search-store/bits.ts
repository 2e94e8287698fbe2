/** Numbers as bits of words, the lowest first. */

function bitCount(word: number): number {
  let n = word - ((word >>> 1) & 0x55555555)
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333)
  return (((n + (n >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24
}

export function countBits(words: Uint32Array): number {
  let count = 0
  for (let at = 0; at < words.length; at++) count += bitCount(words[at]!)
  return count
}

/** The numbers in ascending order; written into `room` where that is long enough. */
export function bitsListed(words: Uint32Array, room?: Uint32Array): Uint32Array {
  const total = countBits(words)
  const numbers = room !== undefined && room.length >= total ? room.subarray(0, total) : new Uint32Array(total)
  let count = 0
  for (let at = 0; at < words.length; at++) {
    // As a signed number: those of 31 bits are small integers, which others are not.
    let word = words[at]! | 0
    const first = at << 5
    while (word !== 0) {
      const low = word & -word
      numbers[count++] = first + 31 - Math.clz32(low)
      word ^= low
    }
  }
  return numbers
}
