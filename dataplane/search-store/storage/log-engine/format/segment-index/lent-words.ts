/**
 * Arrays for what is unpacked of one commit, lent to one reader at a time. Arrays of their own for each commit would be garbage that V8 counts as
 * part of a small heap, and the whole heap would be marked for it some times a second.
 */

/** Shorter arrays are made anew, longer ones are not kept, words of 32 bits as powers of two. */
const MIN_BITS = 8
const MAX_BITS = 17
/** Arrays of one length that are kept: those of as many readers as are in the middle of a commit at once. */
const MAX_KEPT = 4

/** By length. */
const kept: Int32Array<ArrayBuffer>[][] = Array.from({ length: MAX_BITS + 1 }, () => [])

/** `count` words of any content. */
export function lendWords(count: number): Int32Array<ArrayBuffer> {
  const bits = Math.max(MIN_BITS, 32 - Math.clz32(count - 1))
  if (bits > MAX_BITS) return new Int32Array(count)
  return (kept[bits]!.pop() ?? new Int32Array(1 << bits)).subarray(0, count)
}

/** `count` numbers of any content. */
export function lendNumbers(count: number): Float64Array<ArrayBuffer> {
  return new Float64Array(lendWords(2 * count).buffer, 0, count)
}

/** To be called once nobody looks at what was lent any more. */
export function giveBack({ buffer }: Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer>): void {
  const length = buffer.byteLength >>> 2
  const list = kept[31 - Math.clz32(length)]
  if (list !== undefined && list.length < MAX_KEPT && (length & (length - 1)) === 0) list.push(new Int32Array(buffer))
}
