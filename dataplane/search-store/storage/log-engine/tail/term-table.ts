/**
 * The inverted index of the tail: an open-addressing table from 64-bit term keys to the documents that hold them.
 *
 * An entry is four words: key lo, key hi, `(df − 1) << 16 | last document`, and the pool offset of the last document written.
 * Slots are chosen by the high bits of `hi`, so the table read from front to back is nearly in key order, which is what sealing wants.
 * A term's first document lives in the entry alone; from the second on its documents stand in chunks of the pool, each with a
 * two-word header that points to the chunk before it.
 */
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import { regrown } from '../../../grown.ts'

/** Documents of one table are numbered below this. */
export const MAX_TABLE_DOCS = 65_536
const INITIAL_BITS = 6
const HEADER = 2
const FIRST_CHUNK = 4
const LAST_CHUNK = 128
/** Documents of terms that are visited between two pauses, and what a term costs beside its documents, in documents. */
const VISITED_A_PIECE = 65_536
const TERM_COST = 8
const SORTED_A_PIECE = 32_768

export class TermTable {
  #entries: Int32Array
  #bits: number
  #size = 0
  #pool = new Uint16Array(1 << 8)
  #poolEnd = HEADER
  /** Only so that the loads of `touch` have a use. */
  #touched = 0

  /** `expected` terms fit without growing. */
  constructor(expected = 0) {
    this.#bits = Math.max(INITIAL_BITS, Math.ceil(Math.log2((expected * 8) / 5 + 1)))
    this.#entries = new Int32Array(4 << this.#bits)
  }

  get size(): number {
    return this.#size
  }

  get sizeBytes(): number {
    return this.#entries.byteLength + this.#pool.byteLength + (this.#touched & 0)
  }

  /** Notes that `doc` holds the term. Documents come in ascending order; a term twice in one document counts once. */
  add(lo: number, hi: number, doc: number): void {
    const entries = this.#entries
    const mask = entries.length - 1
    let at = (hi >>> (32 - this.#bits)) << 2
    for (;;) {
      const foundHi = entries[at + 1]!
      if (foundHi === hi && entries[at] === lo) {
        const state = entries[at + 2]!
        if ((state & 0xffff) !== doc) this.#append(at, state, doc)
        return
      }
      if (foundHi === 0) break
      at = (at + 4) & mask
    }
    entries[at] = lo
    entries[at + 1] = hi
    entries[at + 2] = doc
    entries[at + 3] = 0
    if (++this.#size * 8 > 5 << this.#bits) this.#grow()
  }

  /** Loads the entries of terms that will be added next. The loads do not wait for each other, as those of `add` would. */
  touch(terms: Int32Array, from: number, end: number): void {
    const entries = this.#entries
    const shift = 32 - this.#bits
    let sum = 0
    for (let k = from + 1; k < end; k += 2) sum |= entries[(terms[k]! >>> shift) << 2]!
    this.#touched = sum
  }

  #append(at: number, state: number, doc: number): void {
    const entries = this.#entries
    const df = (state >>> 16) + 1
    let position: number
    if (df === 1) {
      position = this.#newChunk(FIRST_CHUNK, 0)
      this.#pool[position] = state & 0xffff
      position++
    } else if (isChunkEnd(df)) position = this.#newChunk(chunkAfter(df), entries[at + 3]!)
    else position = entries[at + 3]! + 1
    this.#pool[position] = doc
    entries[at + 2] = (df << 16) | doc
    entries[at + 3] = position
  }

  /** Offset of the first place of a new chunk that follows the one ending at `before`. */
  #newChunk(capacity: number, before: number): number {
    const start = this.#poolEnd
    if (start + HEADER + capacity > this.#pool.length) this.#pool = regrown(this.#pool)
    this.#pool[start] = before & 0xffff
    this.#pool[start + 1] = before >>> 16
    this.#poolEnd = start + HEADER + capacity
    return start + HEADER
  }

  #grow(): void {
    const old = this.#entries
    this.#bits++
    const entries = new Int32Array(4 << this.#bits)
    const mask = entries.length - 1
    const shift = 32 - this.#bits
    for (let from = 0; from < old.length; from += 4) {
      const hi = old[from + 1]!
      if (hi === 0) continue
      let at = (hi >>> shift) << 2
      while (entries[at + 1] !== 0) at = (at + 4) & mask
      entries[at] = old[from]!
      entries[at + 1] = hi
      entries[at + 2] = old[from + 2]!
      entries[at + 3] = old[from + 3]!
    }
    this.#entries = entries
    releaseBytes(old)
  }

  /** Gives its memory back: the table is not to be used any more. A call that comes all the same finds nothing, and ends. */
  release(): void {
    releaseBytes(this.#entries)
    releaseBytes(this.#pool)
    this.#bits = INITIAL_BITS
    this.#entries = new Int32Array(4 << INITIAL_BITS)
    this.#pool = new Uint16Array(1 << 8)
    this.#poolEnd = HEADER
  }

  /** The documents of a term, ascending. */
  documents(lo: number, hi: number): Uint32Array {
    const entries = this.#entries
    const mask = entries.length - 1
    let at = (hi >>> (32 - this.#bits)) << 2
    for (;;) {
      if (entries[at + 1] === hi && entries[at] === lo) {
        const found = new Uint32Array((entries[at + 2]! >>> 16) + 1)
        this.#read(at, found)
        return found
      }
      if (entries[at + 1] === 0) return new Uint32Array(0)
      at = (at + 4) & mask
    }
  }

  #read(at: number, out: Uint32Array | Uint16Array): number {
    const state = this.#entries[at + 2]!
    const df = (state >>> 16) + 1
    if (df === 1) {
      out[0] = state & 0xffff
      return 1
    }
    const pool = this.#pool
    let position = this.#entries[at + 3]!
    let left = df
    while (left > 0) {
      const start = chunkStart(left)
      const count = left - start
      const first = position - count + 1
      for (let k = 0; k < count; k++) out[start + k] = pool[first + k]!
      position = pool[first - HEADER]! | (pool[first - 1]! << 16)
      left = start
    }
    return df
  }

  /**
   * Every term in ascending order of `(hi, lo)` as unsigned numbers, with a pause now and then, in which no term may be added; `docs` is reused from
   * call to call, its first `df` entries count.
   */
  *visitSorted(visit: (lo: number, hi: number, docs: Uint16Array, df: number) => void): Generator<void, void, undefined> {
    const order = yield* this.#sortedOffsets()
    const docs = new Uint16Array(MAX_TABLE_DOCS)
    let read = 0
    for (let k = 0; k < order.length; k++) {
      const at = order[k]!
      const df = this.#read(at, docs)
      visit(this.#entries[at]!, this.#entries[at + 1]!, docs, df)
      read += df + TERM_COST
      if (read < VISITED_A_PIECE) continue
      read = 0
      yield
    }
    releaseBytes(order)
  }

  /** Offsets of the entries in key order: nearly sorted already, so insertion moves each a step or two. */
  *#sortedOffsets(): Generator<void, Int32Array, undefined> {
    const entries = this.#entries
    const order = new Int32Array(this.#size)
    const keys = new Uint32Array(this.#size)
    let count = 0
    const offsets = this.#offsets()
    yield
    // A loop over the values makes an object for each of them here.
    for (let n = 0; n < offsets.length; n++) {
      const at = offsets[n]!
      if (count % SORTED_A_PIECE === SORTED_A_PIECE - 1) yield
      const hi = entries[at + 1]! >>> 0
      const lo = entries[at]! >>> 0
      let k = count++
      while (k > 0 && (keys[k - 1]! > hi || (keys[k - 1] === hi && entries[order[k - 1]!]! >>> 0 > lo))) {
        keys[k] = keys[k - 1]!
        order[k] = order[k - 1]!
        k--
      }
      keys[k] = hi
      order[k] = at
    }
    releaseBytes(keys)
    releaseBytes(offsets)
    return order
  }

  /** Occupied offsets from front to back, entries that wrapped past the end last. */
  #offsets(): Int32Array {
    const entries = this.#entries
    const shift = 32 - this.#bits
    const offsets = new Int32Array(this.#size)
    const wrapped: number[] = []
    let count = 0
    let isFrontRun = true
    for (let at = 0; at < entries.length; at += 4) {
      const hi = entries[at + 1]!
      if (hi === 0) isFrontRun = false
      else if (isFrontRun && hi >>> shift > at >> 2) wrapped.push(at)
      else offsets[count++] = at
    }
    offsets.set(wrapped, count)
    return offsets
  }
}

/** Chunks hold 4, 8, … 128, 128, … documents: they end after 4, 12, 28, 60, 124, 252, 380 … */
function isChunkEnd(df: number): boolean {
  const n = df + FIRST_CHUNK
  return n < 2 * LAST_CHUNK ? (n & (n - 1)) === 0 : (n & (LAST_CHUNK - 1)) === 0
}

function chunkAfter(df: number): number {
  return Math.min(df + FIRST_CHUNK, LAST_CHUNK)
}

/** How many documents stand in the chunks before the one that holds document number `df` (1 based). */
function chunkStart(df: number): number {
  const n = df - 1 + FIRST_CHUNK
  return n < LAST_CHUNK ? (1 << (31 - Math.clz32(n))) - FIRST_CHUNK : (n & -LAST_CHUNK) - FIRST_CHUNK
}
