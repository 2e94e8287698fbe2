/** Content that documents bring to the index: terms, codes and numbers in flat arrays. */
import { NOWHERE } from '../../../../json/bytes.ts'
import { grown } from '../../../grown.ts'
import type { MessageSpan } from '../format/block/message-span.ts'

/** The events of some documents, as an index takes them. Arrays may be longer than what counts of them. */
export interface IndexEvents {
  /** `[lo, hi]` pairs. */
  readonly terms: Int32Array
  readonly termEnd: number
  /** `[slot, code]` pairs. */
  readonly codes: Int32Array
  readonly codeEnd: number
  readonly numberSlots: Int32Array
  readonly numbers: Float64Array
  readonly numberEnd: number
  /** Per document the three ends, as `[terms, codes, numbers]`. */
  readonly ends: Int32Array
  /** Shape of the message per document; absent in events out of the index log, whose reader seals nothing. */
  readonly shapes?: Uint16Array
  readonly count: number
}

/** Words of terms and of codes, and numbers. */
export interface EventCounts {
  readonly terms: number
  readonly codes: number
  readonly numbers: number
}

/**
 * Content that the documents of one batch bring to the index, in order, before it is known whether the batch becomes durable:
 * terms, dictionary codes and numbers. Reused from batch to batch.
 */
export class DocumentEvents implements IndexEvents {
  terms = new Int32Array(0)
  termEnd = 0
  codes = new Int32Array(0)
  codeEnd = 0
  numberSlots = new Int32Array(0)
  numbers = new Float64Array(0)
  numberEnd = 0
  ends = new Int32Array(0)
  /** Per document the code of its message's shape; 0: none. */
  shapes = new Uint16Array(0)
  count = 0
  /** Message of the document added last; `NOWHERE` where the message is not one string, or the document was not read in a single pass. */
  messageStart = NOWHERE
  messageEnd = NOWHERE
  #hasMessage = false
  #shape = 0
  #hasShape = false

  clear(): void {
    this.termEnd = 0
    this.codeEnd = 0
    this.numberEnd = 0
    this.count = 0
  }

  /** Makes room for the next document, of this many bytes: no byte brings more than two terms, two codes, or a number. */
  reserve(bytes: number): void {
    this.#setMessage(NOWHERE, NOWHERE)
    this.#hasMessage = false
    this.#forgetShape()
    this.terms = grownInts(this.terms, this.termEnd + 4 * bytes + 64)
    this.codes = grownInts(this.codes, this.codeEnd + 4 * bytes + 64)
    this.#reserveNumbers(2 * bytes + 64)
    this.ends = grownInts(this.ends, 3 * this.count + 3)
    if (this.shapes.length <= this.count) this.shapes = grown(this.shapes, 2 * this.count + 64)
  }

  /** Makes room for so many more terms: multi-fields bring more of them than the document has bytes. */
  reserveTerms(count: number): void {
    const needed = this.termEnd + 2 * count
    if (this.terms.length < needed) this.terms = grownInts(this.terms, needed)
  }

  /** Makes room for so many documents with so many words of terms and codes, and so many numbers, between two documents. */
  reserveDocuments(count: number, { terms, codes, numbers }: EventCounts): void {
    this.terms = grownInts(this.terms, this.termEnd + terms)
    this.codes = grownInts(this.codes, this.codeEnd + codes)
    this.#reserveNumbers(numbers)
    this.ends = grownInts(this.ends, 3 * (this.count + count))
    if (this.shapes.length < this.count + count) this.shapes = grown(this.shapes, 2 * (this.count + count))
  }

  #reserveNumbers(count: number): void {
    if (this.numbers.length >= this.numberEnd + count) return
    this.numberSlots = grownInts(this.numberSlots, this.numberEnd + count)
    const numbers = new Float64Array(this.numberSlots.length)
    numbers.set(this.numbers.subarray(0, this.numberEnd))
    this.numbers = numbers
  }

  /** Terms of the unfinished document. */
  get newTerms(): number {
    return (this.termEnd - (this.count === 0 ? 0 : this.ends[3 * (this.count - 1)]!)) / 2
  }

  /** Drops what the unfinished document has brought so far. */
  resetDocument(): void {
    this.#setMessage(NOWHERE, NOWHERE)
    this.#forgetShape()
    const at = 3 * (this.count - 1)
    this.termEnd = this.count === 0 ? 0 : this.ends[at]!
    this.codeEnd = this.count === 0 ? 0 : this.ends[at + 1]!
    this.numberEnd = this.count === 0 ? 0 : this.ends[at + 2]!
  }

  /** Notes a message. Two messages in one document (an array of them) cancel each other. */
  noteMessage(start: number, end: number): void {
    if (this.#hasMessage) this.#setMessage(NOWHERE, NOWHERE)
    else this.#setMessage(start, end)
    this.#hasMessage = true
  }

  #setMessage(start: number, end: number): void {
    this.messageStart = start
    this.messageEnd = end
  }

  get message(): MessageSpan | undefined {
    return this.messageStart === NOWHERE ? undefined : { start: this.messageStart, end: this.messageEnd }
  }

  /** Notes the shape of a message. Two in one document cancel each other. */
  noteShape(code: number): void {
    this.#shape = this.#hasShape ? 0 : code
    this.#hasShape = true
  }

  #forgetShape(): void {
    this.#shape = 0
    this.#hasShape = false
  }

  endDocument(): void {
    const at = 3 * this.count
    this.ends[at] = this.termEnd
    this.ends[at + 1] = this.codeEnd
    this.ends[at + 2] = this.numberEnd
    this.shapes[this.count] = this.#shape
    this.count++
  }
}

function grownInts(array: Int32Array<ArrayBuffer>, needed: number): Int32Array<ArrayBuffer> {
  if (array.length >= needed) return array
  const grown = new Int32Array(Math.max(needed, array.length * 2))
  grown.set(array)
  return grown
}
