/** Content that documents bring to the index: terms, codes and numbers in flat arrays. */
import type { MessageSpan } from '../format/message-column.ts'

/**
 * Content that the documents of one batch bring to the index, in order, before it is known whether the batch becomes durable:
 * terms, dictionary codes and numbers. Reused from batch to batch.
 */
export class DocumentEvents {
  /** `[lo, hi]` pairs. */
  terms = new Int32Array(0)
  termEnd = 0
  /** `[slot, code]` pairs. */
  codes = new Int32Array(0)
  codeEnd = 0
  numberSlots = new Int32Array(0)
  numbers = new Float64Array(0)
  numberEnd = 0
  /** Per document the three ends, as `[terms, codes, numbers]`. */
  ends = new Int32Array(0)
  count = 0
  /** Message of the document added last; undefined where the message is not one string, or the document was not read in a single pass. */
  message: MessageSpan | undefined
  #hasMessage = false

  clear(): void {
    this.termEnd = 0
    this.codeEnd = 0
    this.numberEnd = 0
    this.count = 0
  }

  /** Makes room for the next document, of this many bytes: no byte brings more than two terms, two codes, or a number. */
  reserve(bytes: number): void {
    this.message = undefined
    this.#hasMessage = false
    this.terms = grownInts(this.terms, this.termEnd + 4 * bytes + 64)
    this.codes = grownInts(this.codes, this.codeEnd + 4 * bytes + 64)
    if (this.numbers.length < this.numberEnd + 2 * bytes + 64) {
      this.numberSlots = grownInts(this.numberSlots, this.numberEnd + 2 * bytes + 64)
      const numbers = new Float64Array(this.numberSlots.length)
      numbers.set(this.numbers.subarray(0, this.numberEnd))
      this.numbers = numbers
    }
    this.ends = grownInts(this.ends, 3 * this.count + 3)
  }

  /** Makes room for so many more terms: multi-fields bring more of them than the document has bytes. */
  reserveTerms(count: number): void {
    const needed = this.termEnd + 2 * count
    if (this.terms.length < needed) this.terms = grownInts(this.terms, needed)
  }

  /** Terms of the unfinished document. */
  get newTerms(): number {
    return (this.termEnd - (this.count === 0 ? 0 : this.ends[3 * (this.count - 1)]!)) / 2
  }

  /** Drops what the unfinished document has brought so far. */
  resetDocument(): void {
    this.message = undefined
    const at = 3 * (this.count - 1)
    this.termEnd = this.count === 0 ? 0 : this.ends[at]!
    this.codeEnd = this.count === 0 ? 0 : this.ends[at + 1]!
    this.numberEnd = this.count === 0 ? 0 : this.ends[at + 2]!
  }

  /** Notes a message. Two messages in one document (an array of them) cancel each other. */
  noteMessage(start: number, end: number): void {
    this.message = this.#hasMessage ? undefined : { start, end }
    this.#hasMessage = true
  }

  endDocument(): void {
    const at = 3 * this.count
    this.ends[at] = this.termEnd
    this.ends[at + 1] = this.codeEnd
    this.ends[at + 2] = this.numberEnd
    this.count++
  }
}

function grownInts(array: Int32Array<ArrayBuffer>, needed: number): Int32Array<ArrayBuffer> {
  if (array.length >= needed) return array
  const grown = new Int32Array(Math.max(needed, array.length * 2))
  grown.set(array)
  return grown
}
