/** Finds where an entry of an upload ends, chunk after chunk. Quotes and brackets alone count, so that an entry that is no JSON does not hide its neighbours. */
import { NOWHERE, SPACE } from '../../json/bytes.ts'

/** An entry is a line, an element of the list, or an object that may go over several lines. */
export type EntryKind = 'line' | 'element' | 'object'

const LINE_FEED = 0x0a
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

export class EntryEnd {
  /** Brackets that are open. */
  #depth = 0
  #isInString = false
  #isEscaped = false
  /** The last byte that is no blank. */
  #last = 0
  #isLineStart = false
  #isBrokenOff = false

  /** Whether the end found is one that the entry itself lacks: there another object begins. */
  get isBrokenOff(): boolean {
    return this.#isBrokenOff
  }

  /** Whether the entry would go on: in a string, or between brackets. */
  get isOpen(): boolean {
    return this.#depth > 0 || this.#isInString
  }

  /** Whether a line that ends here could be the first of an object: no string goes over lines. */
  get mayGoOn(): boolean {
    return this.#depth > 0 && !this.#isInString
  }

  /** Begins another entry. */
  reset(): void {
    this.#depth = 0
    this.#isInString = false
    this.#isEscaped = false
    this.#last = 0
    this.#isLineStart = false
    this.#isBrokenOff = false
  }

  /**
   * Before the line feed, the comma or bracket of the list, or behind the object's last bracket; of an object that breaks off before the object that
   * begins another line. `NOWHERE`: not in this chunk.
   */
  find(chunk: Uint8Array, from: number, kind: EntryKind): number {
    for (let p = from; p < chunk.length; p++) {
      const byte = chunk[p]!
      if (byte === LINE_FEED && kind === 'line') return p
      if (kind === 'object' && this.#isAnother(byte)) {
        this.#isBrokenOff = true
        return p
      }
      if (byte > SPACE) this.#last = byte
      this.#isLineStart = byte === LINE_FEED || (this.#isLineStart && byte <= SPACE)
      if (this.#isEscaped) this.#isEscaped = false
      else if (this.#isInString) {
        if (byte === QUOTE) this.#isInString = false
        else if (byte === BACKSLASH) this.#isEscaped = true
      } else if (byte === QUOTE) this.#isInString = true
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#depth++
      else if (this.#depth === 0) {
        if (kind === 'element' && (byte === COMMA || byte === CLOSE_LIST)) return p
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        if (--this.#depth === 0 && kind === 'object') return p + 1
      }
    }
    return NOWHERE
  }

  /** Whether the byte begins an object where the open one cannot hold any. */
  #isAnother(byte: number): boolean {
    if (byte !== OPEN_OBJECT || !this.#isLineStart || this.#depth === 0 || this.#isInString) return false
    if (this.#last === COMMA) return this.#depth === 1
    return this.#last !== COLON && this.#last !== OPEN_LIST
  }
}
