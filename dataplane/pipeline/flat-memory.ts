/**
 * Memory for the flat records of a batch, lent again and again: new memory for each batch has to be cleared by the system, page by page, and costs
 * more than writing the records into it. Rows are lent, too: new ones live as long as their batch is being written, and the collector of garbage moves
 * each of them twice by then.
 */
import { FreeBuffers } from '../memory/free-buffers.ts'
import type { EncodedRecord } from './flat-record-layout.ts'
import { FlatRow } from './flat-row.ts'

const PAGE_BYTES = 256 * 1024
/** Larger records get memory of their own. */
const MAX_SHARED_BYTES = PAGE_BYTES / 4
/** Pages that wait to be lent: those of the batches that are under way at full load. */
const MAX_FREE_PAGES = 32

/** Rows that wait to be lent: as many as all batches have that are under way at full load. */
const MAX_FREE_ROWS = 16_384

/** Lends pages and rows. */
export class FlatMemory {
  readonly #free = new FreeBuffers(MAX_FREE_PAGES)
  readonly #rows: FlatRow[] = []

  take(): Buffer {
    return this.#free.take(PAGE_BYTES) ?? Buffer.allocUnsafeSlow(PAGE_BYTES)
  }

  giveBack(page: Buffer): void {
    this.#free.giveBack(page)
  }

  /** The row of a record, which stands in `bytes` from `start` on by now. */
  row(key: string, record: EncodedRecord, bytes: Buffer, start: number): FlatRow {
    const row = this.#rows.pop()
    if (row === undefined) return new FlatRow(key, record, bytes, start)
    row.become(key, record, bytes, start)
    return row
  }

  giveBackRows(rows: readonly FlatRow[]): void {
    for (let k = 0; k < rows.length && this.#rows.length < MAX_FREE_ROWS; k++) {
      rows[k]!.clear()
      this.#rows.push(rows[k]!)
    }
  }
}

/** The pages of records that end together. */
export class FlatPages {
  /** The page that the last record was placed in, and where. One object for all records. */
  readonly #place: { page: Buffer; at: number } = { page: Buffer.alloc(0), at: 0 }
  readonly #memory: FlatMemory | undefined
  readonly #pages: Buffer[] = []
  #used = PAGE_BYTES

  /** Without `memory` the pages are left to the garbage collector. */
  constructor(memory?: FlatMemory) {
    this.#memory = memory
  }

  /** Room for `size` bytes; the answer holds until the next call. */
  place(size: number): { readonly page: Buffer; readonly at: number } {
    const place = this.#place
    if (size > MAX_SHARED_BYTES) {
      this.#used = PAGE_BYTES
      place.page = Buffer.allocUnsafeSlow(size)
      place.at = 0
      return place
    }
    if (size > PAGE_BYTES - this.#used) {
      place.page = this.#memory === undefined ? Buffer.allocUnsafeSlow(PAGE_BYTES) : this.#memory.take()
      this.#pages.push(place.page)
      this.#used = 0
    }
    place.at = this.#used
    this.#used += size
    return place
  }

  /** Nobody may read the records any more. */
  release(): void {
    for (const page of this.#pages.splice(0)) this.#memory?.giveBack(page)
  }
}
