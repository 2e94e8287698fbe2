/** A log of the terms and values that each commit brings to the index over a tail: the query process reads this log and walks no document. */
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import type { BlockRef } from '../format/block/block.ts'
import type { FrameHead } from '../format/frame.ts'
import type { IndexFiles } from '../format/index-files.ts'
import { encodeRecord } from '../format/index-record.ts'
import { SegmentFile } from '../format/segment-file.ts'
import { WORD_PAIRS_BYTES } from '../format/segment-index/word-pairs.ts'
import type { IndexEvents } from '../ingest/document-events.ts'
import type { FieldSlots } from '../ingest/field-slots.ts'
import type { HighCardinality, TailIndex } from './tail-index.ts'

/** Readers make the rest of the index from the documents. */
const MAX_LOG_BYTES = 128 * 1024 * 1024

/** A commit that is about to be written, with its events, which stay as they are until it is. */
export interface LoggedCommit {
  readonly at: number
  readonly end: number
  readonly frame: FrameHead
  readonly blocks: readonly BlockRef[]
  readonly events: IndexEvents
}

/** The log of one tail. It is a help to readers: where it cannot be written it ends, and no write fails for it. */
export class IndexLog {
  /** Offset behind the last record that counts; 0: there is none. */
  end = 0
  readonly #files: IndexFiles
  readonly #path: string
  readonly #slots: FieldSlots
  readonly #index: TailIndex
  readonly #high: HighCardinality
  #file: SegmentFile | undefined
  #isOver = false
  /** Length of the record that is written. */
  #added = 0
  #toldSlots = 0
  /** By slot: values that were told. */
  readonly #toldValues: number[] = []
  readonly #toldPartial = new Set<number>()
  readonly #toldHigh = new Set<number>()
  readonly #toldPairs = new Uint32Array(WORD_PAIRS_BYTES / 4)

  constructor(files: IndexFiles, path: string, slots: FieldSlots, index: TailIndex, high: HighCardinality) {
    this.#files = files
    this.#path = path
    this.#slots = slots
    this.#index = index
    this.#high = high
  }

  /** Disk that it takes. */
  get sizeBytes(): number {
    return this.#file === undefined ? 0 : this.end
  }

  /** Writes the record of a commit, for which `commit` or `fail` must follow. Never rejects. */
  async add({ at, end, frame, blocks, events }: LoggedCommit): Promise<void> {
    this.#added = 0
    if (this.#isOver) return
    try {
      const record = encodeRecord(
        { at, end, frame, blocks, ...this.#news(events) },
        events,
        this.#index.pairs.changesSince(this.#toldPairs),
      )
      if (this.end + record.length > MAX_LOG_BYTES) return this.fail()
      this.#file ??= new SegmentFile(this.#files, this.#path)
      await this.#file.write(record, this.end)
      this.#added = record.length
      releaseBytes(record)
    } catch {
      this.fail()
    }
  }

  /** The changes of slots and columns since the last record. After a commit that fails no record has them, so `fail` ends the log. */
  #news({ codes, codeEnd }: IndexEvents) {
    const { keywords } = this.#index
    const paths = this.#slots.all.slice(this.#toldSlots).map(({ path }) => path)
    this.#toldSlots += paths.length
    const values: [slot: number, values: readonly string[]][] = []
    let untold = this.#untoldColumns()
    for (let k = 0; k < codeEnd && untold > 0; k += 2) {
      const slot = codes[k]!
      const { dictionary } = keywords[slot]!
      const told = this.#toldValues[slot] ?? 1
      if (dictionary.length === told) continue
      values.push([slot, dictionary.slice(told)])
      this.#toldValues[slot] = dictionary.length
      untold--
    }
    const partial: number[] = []
    for (let slot = 0; slot < keywords.length; slot++)
      if (keywords[slot]?.isPartial === true && !this.#toldPartial.has(slot)) partial.push(slot)
    const high = [...this.#high].filter(slot => !this.#toldHigh.has(slot))
    for (const slot of partial) this.#toldPartial.add(slot)
    for (const slot of high) this.#toldHigh.add(slot)
    return { paths, values, partial, high }
  }

  /** Columns with values that were not told. Those of a refused document may be the only ones: their field may be in no mapping. */
  #untoldColumns(): number {
    const { keywords } = this.#index
    let count = 0
    for (let slot = 0; slot < keywords.length; slot++) {
      const column = keywords[slot]
      if (column !== undefined && column.dictionary.length > (this.#toldValues[slot] ?? 1)) count++
    }
    return count
  }

  commit(): void {
    this.end += this.#added
  }

  fail(): void {
    this.#isOver = true
  }

  /** Gives the file back: the segment is sealed or closed. */
  remove(): void {
    this.#isOver = true
    if (this.#file === undefined) return
    this.#file.close()
    this.#files.remove(this.#path)
    this.#file = undefined
  }
}
