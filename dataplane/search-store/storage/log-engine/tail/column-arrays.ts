/** The arrays under the columns of a tail, which take as little memory as their content allows: an index in memory has dozens of columns of 57,000 values, and the query process a copy. */
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import { regrown } from '../../../grown.ts'

const FIRST_LENGTH = 16
const NONE = new Float64Array(0)

/** The documents of a column's values, ascending; one with several values stands several times. No memory is taken while value k is document k's, as in most columns. */
export class ValueDocs {
  count = 0
  /** A document with more than one value was seen. */
  isMulti = false
  #docs: Uint16Array<ArrayBuffer> | undefined
  #last = -1

  /** Undefined: value k is that of document k. */
  get list(): Uint16Array | undefined {
    return this.#docs?.subarray(0, this.count)
  }

  get sizeBytes(): number {
    return this.#docs?.byteLength ?? 0
  }

  append(doc: number): void {
    if (doc === this.#last) this.isMulti = true
    this.#last = doc
    const at = this.count++
    if (this.#docs === undefined) {
      if (doc === at) return
      this.#docs = new Uint16Array(Math.max(2 * at, FIRST_LENGTH))
      for (let value = 0; value < at; value++) this.#docs[value] = value
    } else if (at === this.#docs.length) this.#docs = regrown(this.#docs)
    this.#docs[at] = doc
  }

  /** The document of a value. */
  of(value: number): number {
    return this.#docs === undefined ? value : this.#docs[value]!
  }

  /** Gives its memory back: nothing is added any more. */
  release(): void {
    if (this.#docs !== undefined) releaseBytes(this.#docs)
  }
}

/** Numbers in a row. One takes four bytes while all of them are whole numbers away from the first one, and less than 2^31, as times of one tail are; else eight. */
export class NumberRow {
  #base = 0
  #near: Int32Array<ArrayBuffer> | undefined = new Int32Array(FIRST_LENGTH)
  #far: Float64Array<ArrayBuffer> = NONE

  get sizeBytes(): number {
    return this.#near?.byteLength ?? this.#far.byteLength
  }

  at(place: number): number {
    return this.#near === undefined ? this.#far[place]! : this.#base + this.#near[place]!
  }

  /** `place` is the next one. */
  append(place: number, value: number): void {
    if (this.#near !== undefined) {
      if (place === 0) this.#base = value
      const offset = value - this.#base
      if ((offset | 0) === offset && this.#base + offset === value && !Object.is(value, -0)) {
        if (place === this.#near.length) this.#near = regrown(this.#near)
        this.#near[place] = offset
        return
      }
      this.#widen(place)
    }
    if (place === this.#far.length) this.#far = regrown(this.#far)
    this.#far[place] = value
  }

  #widen(count: number): void {
    const near = this.#near!
    const far = new Float64Array(near.length)
    for (let place = 0; place < count; place++) far[place] = this.#base + near[place]!
    this.#far = far
    this.#near = undefined
    releaseBytes(near)
  }

  /** The first `count`: a view, or a copy. */
  first(count: number): Float64Array {
    if (this.#near === undefined) return this.#far.subarray(0, count)
    const near = this.#near
    const values = new Float64Array(count)
    for (let place = 0; place < count; place++) values[place] = this.#base + near[place]!
    return values
  }

  /** Gives its memory back: nothing is added any more. */
  release(): void {
    releaseBytes(this.#near ?? this.#far)
  }
}

/** Dictionary codes in a row: one byte each up to code 255, two beyond. Memory that somebody has seen stays as it is. */
export class CodeRow {
  #codes: Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> = new Uint8Array(FIRST_LENGTH)
  #isSeen = false

  get sizeBytes(): number {
    return this.#codes.byteLength
  }

  at(place: number): number {
    return this.#codes[place]!
  }

  /** `place` is the next one. */
  append(place: number, code: number): void {
    if (code > 0xff && this.#codes instanceof Uint8Array) this.#replace(new Uint16Array(this.#codes.length))
    if (place === this.#codes.length) {
      const longer = 2 * place
      this.#replace(this.#codes instanceof Uint8Array ? new Uint8Array(longer) : new Uint16Array(longer))
    }
    this.#codes[place] = code
  }

  #replace(codes: Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer>): void {
    const before = this.#codes
    codes.set(before)
    this.#codes = codes
    if (!this.#isSeen) releaseBytes(before)
    this.#isSeen = false
  }

  /** A view of the first `count`, which later ones do not change. */
  first(count: number): Uint8Array | Uint16Array {
    return this.#codes.subarray(0, count)
  }

  /** The same for one who keeps it. */
  shown(count: number): Uint8Array | Uint16Array {
    this.#isSeen = true
    return this.first(count)
  }

  /** Gives its memory back, unless somebody has seen it: nothing is added any more. */
  release(): void {
    if (!this.#isSeen) releaseBytes(this.#codes)
  }
}
