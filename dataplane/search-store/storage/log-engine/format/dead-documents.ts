/** The set of deleted documents of a segment, and its file `N.del`. */
import { crc32 } from 'node:zlib'
import { grown } from '../../../grown.ts'
import { type IndexFiles, readWhole, replaceFile } from './index-files.ts'

const NO_BITS = new Uint8Array(0)

/** Which documents of one segment are deleted or replaced. Takes memory from the first deletion on: nearly all segments of a log never have one. */
export class DeadDocuments {
  readonly #size: number
  #bits: Uint8Array<ArrayBuffer> = NO_BITS
  #count = 0
  /** Not yet in the segment's own file; the tail's frames tell of them until then. */
  isDirty = false
  /** How many its file names. */
  savedCount = 0

  /** `size`: of the segment, as far as that is known. */
  constructor(size: number) {
    this.#size = size
  }

  get count(): number {
    return this.#count
  }

  /** How many of the first `size` documents. */
  countBelow(size: number): number {
    if (this.#count === 0) return 0
    let count = 0
    for (const doc of this) {
      if (doc >= size) break
      count++
    }
    return count
  }

  has(doc: number): boolean {
    return ((this.#bits[doc >>> 3] ?? 0) & (1 << (doc & 7))) !== 0
  }

  add(doc: number): void {
    if (this.has(doc)) return
    const at = doc >>> 3
    if (at >= this.#bits.length) this.#bits = grown(this.#bits, Math.max(at + 1, this.#bits.length * 2, (this.#size + 7) >>> 3))
    this.#bits[at]! |= 1 << (doc & 7)
    this.#count++
    this.isDirty = true
  }

  *[Symbol.iterator](): Generator<number, void, undefined> {
    for (let at = 0; at < this.#bits.length; at++)
      for (let bits = this.#bits[at]!; bits !== 0; bits &= bits - 1) yield 8 * at + 31 - Math.clz32(bits & -bits)
  }

  get memoryBytes(): number {
    return this.#bits.length
  }

  /** For `of`. */
  toBytes(): Uint8Array {
    return this.#bits.slice()
  }

  static of(bits: Uint8Array): DeadDocuments {
    const dead = new DeadDocuments(0)
    dead.#bits = Uint8Array.from(bits)
    for (const _ of dead) dead.#count++
    return dead
  }

  save(files: IndexFiles, path: string): void {
    const bytes = Buffer.alloc(4 + this.#bits.length)
    bytes.set(this.#bits, 4)
    bytes.writeUInt32LE(crc32(this.#bits), 0)
    replaceFile(files, path, bytes)
    this.isDirty = false
    this.savedCount = this.#count
  }

  static load(files: IndexFiles, path: string): DeadDocuments {
    const bytes = readWhole(files, path)
    const bits = bytes.subarray(4)
    if (bytes.length < 4 || crc32(bits) !== bytes.readUInt32LE(0))
      throw new Error(`${path} is damaged: its checksum does not fit. It says which documents are deleted: without it they would come back`)
    const dead = DeadDocuments.of(bits)
    dead.savedCount = dead.count
    return dead
  }
}
