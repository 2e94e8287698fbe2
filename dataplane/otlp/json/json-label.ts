/** Names of fields as they stand in compact JSON, to be compared four bytes at a time. */
import { COLON, QUOTE } from '../../json/bytes.ts'

export interface Label {
  readonly length: number
  /** Little-endian; the last one filled up with zeros. */
  readonly words: Int32Array
  /** The bits of the last word that count. */
  readonly lastMask: number
}

/** The label `name":` of a field. */
export function labelOf(name: Uint8Array): Label {
  const bytes = [...name, QUOTE, COLON]
  const words = new Int32Array(Math.ceil(bytes.length / 4))
  for (const [i, byte] of bytes.entries()) words[i >> 2] = words[i >> 2]! | (byte << (8 * (i & 3)))
  return { length: bytes.length, words, lastMask: (-1 >>> (8 * (4 * words.length - bytes.length))) | 0 }
}

/** Whether a label stands at `start` in a text that ends at `end`; close before the end it is not told. */
export function isLabelAt(text: DataView, start: number, end: number, { words, lastMask }: Label): boolean {
  const last = words.length - 1
  if (start + 4 * words.length > end) return false
  for (let i = 0; i < last; i++) if (text.getInt32(start + 4 * i, true) !== words[i]) return false
  return (text.getInt32(start + 4 * last, true) & lastMask) === words[last]
}
