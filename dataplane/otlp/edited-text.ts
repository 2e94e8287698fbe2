/** Reads ranges of a text as they are after its edits. */
import { Buffer } from 'node:buffer'
import type { Edit } from './layout.ts'

/** The binary search begins with this many edits behind the last one found. */
const NEAR = 8
/** With more edits the pieces would cost more than a copy of all. */
const MAX_PIECED_EDITS = 16

/** A text with its edits applied, by ranges of the original. A range must not cut an edit. */
export class EditedText {
  readonly #text: Uint8Array
  readonly #edits: readonly Edit[]
  /** Bytes gained by all edits before the one of this index. */
  readonly #gain: readonly number[]
  /** The edit found last: most ranges asked for lie just behind it. */
  #near = 0

  /** `edits` as `settleEdits` gives them. */
  constructor(text: Uint8Array, edits: readonly Edit[]) {
    this.#text = text
    this.#edits = edits
    const gain = [0]
    let sum = 0
    for (const edit of edits) {
      sum += edit.text.length - (edit.end - edit.start)
      gain.push(sum)
    }
    this.#gain = gain
  }

  size(start: number, end: number): number {
    if (this.#edits.length === 0) return end - start
    return end - start + this.#gain[this.#firstAt(end)]! - this.#gain[this.#firstAt(start)]!
  }

  isEdited(start: number, end: number): boolean {
    return this.#firstAt(start) !== this.#firstAt(end)
  }

  /** The edited text of a range; not a copy where nothing is edited. */
  bytes(start: number, end: number): Uint8Array {
    const first = this.#firstAt(start)
    const last = this.#firstAt(end)
    if (first === last) return this.#text.subarray(start, end)
    const bytes = Buffer.allocUnsafe(end - start + this.#gain[last]! - this.#gain[first]!)
    let from = start
    let at = 0
    for (let i = first; i < last; i++) {
      const edit = this.#edits[i]!
      bytes.set(this.#text.subarray(from, edit.start), at)
      at += edit.start - from
      at += bytes.write(edit.text, at, 'latin1')
      from = edit.end
    }
    bytes.set(this.#text.subarray(from, end), at)
    return bytes
  }

  /** The same in pieces, of which those between a few edits are no copies. */
  pieces(start: number, end: number): readonly Uint8Array[] {
    const first = this.#firstAt(start)
    const last = this.#firstAt(end)
    if (last - first > MAX_PIECED_EDITS) return [this.bytes(start, end)]
    const pieces: Uint8Array[] = []
    let from = start
    for (const edit of this.#edits.slice(first, last)) {
      pieces.push(this.#text.subarray(from, edit.start), Buffer.from(edit.text, 'latin1'))
      from = edit.end
    }
    pieces.push(this.#text.subarray(from, end))
    return pieces
  }

  /** Index of the first edit at or after `position`. */
  #firstAt(position: number): number {
    const count = this.#edits.length
    if (count === 0) return 0
    let low = this.#isBefore(this.#near - 1, position) ? this.#near : 0
    let high = Math.min(low + NEAR, count)
    if (high < count && this.#isBefore(high, position)) high = count
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#edits[middle]!.start < position) low = middle + 1
      else high = middle
    }
    this.#near = low
    return low
  }

  #isBefore(index: number, position: number): boolean {
    return index < 0 || this.#edits[index]!.start < position
  }
}
