/** Where documents of one kind are cut: behind which keys stand values that differ in nearly all of them. */
import { NOWHERE } from '../../../../../json/bytes.ts'
import type { CutValues } from './cut-values.ts'
import { isSame } from './piece-table.ts'

/** A key with its colon; the value behind it is cut out. */
export interface Cut {
  readonly key: Uint8Array
  readonly values: CutValues
}

/** Most cuts, with that at the message. */
export const MAX_CUTS = 24
/** There is no other cut. */
export const NO_CUT = 255
const MAX_HINTS = 10

/** Places where the next cut was before, the last one first: which cut, and how far from the one before or, below zero, from the end of the document. */
class Hints {
  readonly cuts = new Uint8Array(MAX_HINTS)
  readonly distances = new Int32Array(MAX_HINTS)
  count = 0

  /** Puts one to the front. */
  use(k: number): void {
    const cut = this.cuts[k]!
    const distance = this.distances[k]!
    for (let j = k; j > 0; j--) {
      this.cuts[j] = this.cuts[j - 1]!
      this.distances[j] = this.distances[j - 1]!
    }
    this.cuts[0] = cut
    this.distances[0] = distance
  }

  add(cut: number, distance: number): void {
    if (this.count < MAX_HINTS) this.count++
    this.cuts[this.count - 1] = cut
    this.distances[this.count - 1] = distance
    this.use(this.count - 1)
  }
}

/** Finds the cuts of one document after the other. */
export class DocumentCuts {
  readonly values: readonly CutValues[]
  /** Which of the cuts is that at the message. */
  readonly message: number
  /** Where the value of the cut that was found last begins. */
  at = 0
  readonly #keys: readonly Uint8Array[]
  readonly #views: readonly DataView[]
  readonly #skips: readonly Uint8Array[]
  /** By cut before, from −1 on. */
  readonly #hints: readonly Hints[]

  constructor(cuts: readonly Cut[], message: number) {
    this.values = cuts.map(({ values }) => values)
    this.#keys = cuts.map(({ key }) => key)
    this.message = message
    this.#views = cuts.map(({ key }) => new DataView(key.buffer, key.byteOffset, key.length))
    this.#skips = cuts.map(({ key }) => skipsOf(key))
    this.#hints = Array.from({ length: cuts.length + 1 }, () => new Hints())
  }

  /**
   * The next cut from `p` on behind cut `before` in a document that ends at `end`; `NO_CUT`: there is none. `messageAt`: where the text of the message
   * begins that stands apart, or `NOWHERE`.
   */
  next(before: number, source: Uint8Array, view: DataView, p: number, end: number, messageAt: number): number {
    const hints = this.#hints[before + 1]!
    for (let k = 0; k < hints.count; k++) {
      const cut = hints.cuts[k]!
      const distance = hints.distances[k]!
      const at = distance < 0 ? end + distance : p + distance
      if (at < p || !this.#isAt(cut, source, view, at, end, messageAt)) continue
      if (k > 0) hints.use(k)
      return this.#found(cut, at)
    }
    const cut = this.#search(before, source, p, end, messageAt)
    if (cut === NO_CUT) return NO_CUT
    hints.add(cut, this.at - end)
    hints.add(cut, this.at - p)
    return this.#found(cut, this.at)
  }

  /** `at` is where the key begins, or the message's text. */
  #isAt(cut: number, source: Uint8Array, view: DataView, at: number, end: number, messageAt: number): boolean {
    if (cut === this.message) return at === messageAt
    const key = this.#views[cut]!
    const length = key.byteLength
    if (at + length >= end) return false
    // Two bytes from the middle rule out most that stands elsewhere.
    const middle = length >>> 1
    if (source[at + middle] !== key.getUint8(middle) || source[at + 1] !== key.getUint8(1)) return false
    return isSame(view, source.byteOffset + at, key, 0, length)
  }

  #found(cut: number, at: number): number {
    this.at = cut === this.message ? at : at + this.#keys[cut]!.length
    return cut
  }

  /** The first of the cuts behind `before` that the document has. */
  #search(before: number, source: Uint8Array, p: number, end: number, messageAt: number): number {
    const isMessageAhead = messageAt >= p
    for (let cut = before + 1; cut < this.#keys.length; cut++) {
      if (cut === this.message) {
        if (!isMessageAhead) continue
        this.at = messageAt
        return cut
      }
      const limit = isMessageAhead && cut < this.message ? messageAt : end
      const at = find(source, p, limit, this.#keys[cut]!, this.#skips[cut]!)
      if (at === NOWHERE || (isMessageAhead && at > messageAt)) continue
      this.at = at
      return cut
    }
    return NO_CUT
  }
}

/** By the byte under the key's last: how far the key may be moved on. */
function skipsOf(key: Uint8Array): Uint8Array {
  const skips = new Uint8Array(256).fill(Math.min(key.length, 255))
  for (let k = 0; k < key.length - 1; k++) skips[key[k]!] = Math.min(key.length - 1 - k, 255)
  return skips
}

function find(source: Uint8Array, from: number, end: number, key: Uint8Array, skips: Uint8Array): number {
  const last = key.length - 1
  for (let p = from + last; p < end; p += skips[source[p]!]!) {
    let k = last
    while (k >= 0 && source[p - last + k] === key[k]) k--
    if (k < 0) return p - last
  }
  return NOWHERE
}
