/** Codes of the values of one keyword field, as a thread gives them that is not the index: the index has codes of its own. */
import { grown } from '../../../grown.ts'

/** Longer values, and more of them, have no code. */
const MAX_VALUE_BYTES = 512
const MAX_VALUES = 65_535
/** Memory of a value beside its bytes. */
const VALUE_BYTES = 24

export class ValueCodes {
  /** `[lo, hi]` by code; code 0 is none. */
  #hashes = new Int32Array(64)
  /** Where the bytes of each value end, by code. */
  #ends = new Uint32Array(32)
  #bytes = new Uint8Array(512)
  #table = new Uint16Array(64)
  #count = 1
  #last = 0
  /** By code: the form that the value is in, and its number there. */
  #forms = new Uint32Array(32)
  #numbers = new Uint32Array(32)

  get sizeBytes(): number {
    return this.#bytes.byteLength + VALUE_BYTES * this.#forms.length + this.#table.byteLength
  }

  /** The value stands in `bytes` from `start` to `end`; −1: it gets no code. */
  code(lo: number, hi: number, bytes: Uint8Array, start: number, end: number): number {
    const last = this.#last
    if (last !== 0 && this.#isAt(last, lo, hi)) return last
    const mask = this.#table.length - 1
    let at = hi & mask
    for (let code = this.#table[at]!; code !== 0; code = this.#table[at]!) {
      if (this.#isAt(code, lo, hi)) {
        this.#last = code
        return code
      }
      at = (at + 1) & mask
    }
    return this.#count > MAX_VALUES || end - start > MAX_VALUE_BYTES ? -1 : this.#add(at, lo, hi, bytes.subarray(start, end))
  }

  #isAt(code: number, lo: number, hi: number): boolean {
    return this.#hashes[2 * code] === lo && this.#hashes[2 * code + 1] === hi
  }

  #add(at: number, lo: number, hi: number, value: Uint8Array): number {
    const code = this.#count++
    if (this.#ends.length <= code) {
      this.#hashes = grown(this.#hashes)
      this.#ends = grown(this.#ends)
      this.#forms = grown(this.#forms)
      this.#numbers = grown(this.#numbers)
    }
    const start = this.#ends[code - 1]!
    const end = start + value.length
    if (this.#bytes.length < end) this.#bytes = grown(this.#bytes, 2 * end)
    this.#bytes.set(value, start)
    this.#ends[code] = end
    this.#hashes[2 * code] = lo
    this.#hashes[2 * code + 1] = hi
    this.#table[at] = code
    if (2 * code > this.#table.length) this.#rehash()
    this.#last = code
    return code
  }

  #rehash(): void {
    const table = new Uint16Array(this.#table.length * 4)
    const mask = table.length - 1
    for (let code = 1; code < this.#count; code++) {
      let at = this.#hashes[2 * code + 1]! & mask
      while (table[at] !== 0) at = (at + 1) & mask
      table[at] = code
    }
    this.#table = table
  }

  /** The number of a value in a form; −1: it has none there yet. */
  numberIn(form: number, code: number): number {
    return this.#forms[code] === form ? this.#numbers[code]! : -1
  }

  setNumber(form: number, code: number, number: number): void {
    this.#forms[code] = form
    this.#numbers[code] = number
  }

  lo(code: number): number {
    return this.#hashes[2 * code]!
  }

  hi(code: number): number {
    return this.#hashes[2 * code + 1]!
  }

  bytes(code: number): Uint8Array {
    return this.#bytes.subarray(this.#ends[code - 1]!, this.#ends[code]!)
  }
}
