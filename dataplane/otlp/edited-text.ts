import { Buffer } from 'node:buffer'
import type { Edit } from './layout.ts'

/** A text with its edits applied, by ranges of the original. A range must not cut an edit. */
export class EditedText {
  readonly #text: Uint8Array
  readonly #edits: readonly Edit[]
  /** Bytes gained by all edits before the one of this index. */
  readonly #gain: readonly number[]

  constructor(text: Uint8Array, edits: readonly Edit[]) {
    this.#text = text
    this.#edits = edits
    const gain = [0]
    for (const edit of edits) gain.push(gain.at(-1)! + Buffer.byteLength(edit.text) - (edit.end - edit.start))
    this.#gain = gain
  }

  size(start: number, end: number): number {
    return end - start + this.#gain[this.#firstAt(end)]! - this.#gain[this.#firstAt(start)]!
  }

  chunks(start: number, end: number): Uint8Array[] {
    const chunks: Uint8Array[] = []
    const last = this.#firstAt(end)
    let from = start
    for (let i = this.#firstAt(start); i < last; i++) {
      const edit = this.#edits[i]!
      chunks.push(this.#text.subarray(from, edit.start), Buffer.from(edit.text))
      from = edit.end
    }
    chunks.push(this.#text.subarray(from, end))
    return chunks
  }

  /** Index of the first edit at or after `position`. */
  #firstAt(position: number): number {
    let low = 0
    let high = this.#edits.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#edits[middle]!.start < position) low = middle + 1
      else high = middle
    }
    return low
  }
}
