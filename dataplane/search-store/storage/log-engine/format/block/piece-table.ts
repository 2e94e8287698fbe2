/** The different texts that documents of a block have between two cuts, numbered as they come. */
import type { ByteWriter } from '../bytes/byte-writer.ts'
import { MAX_DOCS } from './cut-values.ts'

/** A power of two. */
const TABLE_SIZE = 1024
export const NO_CODE = 255

export class PieceTable {
  count = 0
  /** By text: where its first stands. */
  readonly #views: DataView[] = []
  readonly #places = new Uint32Array(MAX_DOCS)
  readonly #lengths = new Uint32Array(MAX_DOCS)
  readonly #cuts = new Uint8Array(MAX_DOCS)
  readonly #hashes = new Int32Array(MAX_DOCS)
  /** Codes by hash, open addressing; 255: free. */
  readonly #table = new Uint8Array(TABLE_SIZE).fill(NO_CODE)
  /** The code that came last behind each code of the text before. */
  readonly #guesses = new Uint8Array(256)
  readonly #codes = new Uint8Array(MAX_DOCS)
  #documents = 0

  begin(): void {
    if (this.#documents === 0) return
    if (this.count > 0) this.#table.fill(NO_CODE)
    this.count = 0
    this.#documents = 0
    this.#views.length = 0
    this.#guesses.fill(0)
  }

  /** The text that came last behind text `before`, where it stands at `at` and is no longer than `most`; else `NO_CODE`. */
  guess(before: number, view: DataView, at: number, most: number): number {
    const code = this.#guesses[before]!
    if (code >= this.count) return NO_CODE
    const length = this.#lengths[code]!
    return length <= most && isSame(view, at, this.#views[code]!, this.#places[code]!, length) ? code : NO_CODE
  }

  length(code: number): number {
    return this.#lengths[code]!
  }

  /** The cut that came behind a text. */
  cutBehind(code: number): number {
    return this.#cuts[code]!
  }

  /** The code of a text, behind which there is a cut. */
  codeOf(view: DataView, at: number, length: number, before: number, cut: number): number {
    const hash = hashOf(view, at, length)
    let place = (hash ^ (hash >>> 15)) & (TABLE_SIZE - 1)
    let left = MAX_PROBES
    for (let code = this.#table[place]!; code !== NO_CODE; code = this.#table[place]!) {
      if (left-- > 0 && this.#hashes[code] === hash && this.#is(code, view, at, length)) {
        this.#guesses[before] = code
        return code
      }
      place = (place + 1) & (TABLE_SIZE - 1)
    }
    const code = this.count++
    this.#table[place] = code
    this.#hashes[code] = hash
    this.#views[code] = view
    this.#places[code] = at
    this.#lengths[code] = length
    this.#cuts[code] = cut
    this.#guesses[before] = code
    return code
  }

  #is(code: number, view: DataView, at: number, length: number): boolean {
    return this.#lengths[code] === length && isSame(view, at, this.#views[code]!, this.#places[code]!, length)
  }

  /** The next document has the text. */
  add(code: number): void {
    this.#codes[this.#documents++] = code
  }

  /** The texts; then, where there are several, which of them each document has. */
  write(texts: ByteWriter): void {
    texts.number(this.count)
    if (this.#documents === 0) return
    for (let code = 0; code < this.count; code++) texts.number(this.#lengths[code]!)
    let memory = new Uint8Array(0)
    for (let code = 0; code < this.count; code++) {
      const { buffer } = this.#views[code]!
      if (memory.buffer !== buffer) memory = new Uint8Array(buffer as ArrayBuffer)
      texts.add(memory, this.#places[code], this.#places[code]! + this.#lengths[code]!)
    }
    if (this.count > 1) texts.add(this.#codes, 0, this.#documents)
  }
}

/** Whether the bytes at two places are the same; sixteen at a time. */
export function isSame(a: DataView, aAt: number, b: DataView, bAt: number, length: number): boolean {
  let p = aAt
  let q = bAt
  for (const end = aAt + length - 16; p <= end; p += 16, q += 16) {
    const first = (a.getInt32(p, true) ^ b.getInt32(q, true)) | (a.getInt32(p + 4, true) ^ b.getInt32(q + 4, true))
    const second = (a.getInt32(p + 8, true) ^ b.getInt32(q + 8, true)) | (a.getInt32(p + 12, true) ^ b.getInt32(q + 12, true))
    if ((first | second) !== 0) return false
  }
  const end = aAt + length
  for (; p + 4 <= end; p += 4, q += 4) if (a.getInt32(p, true) !== b.getInt32(q, true)) return false
  if (length >= 4) return a.getInt32(end - 4, true) === b.getInt32(bAt + length - 4, true)
  for (; p < end; p++, q++) if (a.getInt8(p) !== b.getInt8(q)) return false
  return true
}

const STRIDE = 12
/** Texts with one hash are compared; beyond so many a text counts as new. */
const MAX_PROBES = 8

/** A hash over a third of the bytes. */
export function hashOf(view: DataView, at: number, length: number): number {
  let hash = length
  const end = at + length - 4
  for (let p = at; p <= end; p += STRIDE) hash = (Math.imul(hash, 0x9e3779b1 | 0) + view.getInt32(p, true)) | 0
  if (length >= 4) hash = (Math.imul(hash, 0x9e3779b1 | 0) + view.getInt32(end, true)) | 0
  return Math.imul(hash ^ (hash >>> 16), 0x85ebca6b | 0)
}
