/** The query process's copy of the tail. */
import type { MutableMapping } from '../../../mapping/mapping.ts'
import { SnapshotGone } from '../../index-copy.ts'
import type { TailExtent } from '../../index-feed.ts'
import type { Frame } from '../format/frame.ts'
import type { IndexRecord } from '../format/index-record.ts'
import type { SegmentFile } from '../format/segment-file.ts'
import { DocumentWalker } from '../ingest/document-walker.ts'
import { readContent, sourceReader } from '../sealed/stored-blocks.ts'
import type { SegmentContext } from '../segment-context.ts'
import { IndexLogReader } from './index-log-reader.ts'
import { readFrame, takeFrame } from './replay-tail.ts'
import { Tail } from './tail.ts'

/** Bytes of documents between two looks at the clock: half a millisecond of work, as a rule. */
const PIECE_BYTES = 32 * 1024

/** The files of a tail: its frames, and the log of its index where there is one. */
export interface TailFiles {
  readonly segment: SegmentFile
  readonly log: SegmentFile | undefined
}

/**
 * The index over an unsealed segment that another process writes, as far as queries ask: out of the log that the writer keeps, and from the
 * documents of its frames where the log has ended.
 */
export class TailCopy {
  readonly tail: Tail
  readonly context: SegmentContext
  readonly #mapping: MutableMapping
  #log: { readonly file: SegmentFile; readonly reader: IndexLogReader } | undefined
  /** Made where a frame has to be walked. */
  #walker: DocumentWalker | undefined
  /** The rest of the frame that is being read. */
  #frame: Generator<void, void, undefined> | undefined

  /** `before`: the copy of the tail before, which is sealed now. Fields in which it met too many values stay without columns. */
  constructor(context: SegmentContext, mapping: MutableMapping, number: number, { segment, log }: TailFiles, before: TailCopy | undefined) {
    const isRelated = before !== undefined && before.context === context
    const high = isRelated ? before.#highFields() : new Set<number>()
    this.context = context
    this.#mapping = mapping
    this.#log = log && { file: log, reader: new IndexLogReader(log, context) }
    this.tail = new Tail(context, number, segment, high, isRelated ? before.tail.index.terms.size : 0)
  }

  get memoryBytes(): number {
    return this.tail.memoryBytes
  }

  #highFields(): Set<number> {
    const high = new Set(this.tail.high)
    for (const [number, column] of this.tail.index.keywords.entries()) if (column?.isPartial) high.add(number)
    return high
  }

  /** Gives the log's file back. A query that still reads walks the rest. */
  close(): void {
    this.#log?.file.close()
    this.#log = undefined
  }

  /**
   * Reads up to the extent's end at least. All callers that wait do the work, each a piece in its own turn: a query that has had much time already,
   * whose turns are few, holds up no other. Every frame that is finished stays.
   */
  async catchUp(extent: TailExtent, step: () => Promise<unknown>): Promise<void> {
    const { end, count } = extent
    while (this.tail.end < end) {
      this.#readOn(extent)
      await step()
    }
    if (this.tail.count < count) throw new SnapshotGone(`document ${count} of ${this.tail.file.path}`)
  }

  /** One piece of the frame that is being read, or of the next one. */
  #readOn(extent: TailExtent): void {
    this.#frame ??= this.#readFrame(extent)
    try {
      if (this.#frame.next().done === true) this.#frame = undefined
    } catch (error) {
      this.#frame = undefined
      throw error
    }
  }

  *#readFrame({ end, logEnd }: TailExtent): Generator<void, void, undefined> {
    const { tail } = this
    const record = this.#log?.reader.recordAt(tail.end, logEnd)
    if (record === undefined) yield* this.#walk(this.#frameAt(tail.end, end))
    else yield* this.#take(this.#log!.reader, record)
    this.#mapping.commit()
  }

  *#take(reader: IndexLogReader, record: IndexRecord): Generator<void, void, undefined> {
    const { tail } = this
    const { head, end, blocks } = { ...record.head, head: record.head.frame }
    const firstDoc = tail.count
    // One made before may know fields by other slots.
    this.#walker = undefined
    const events = reader.take(record, tail)
    yield* tail.index.applyInPieces(events, firstDoc)
    const placed = blocks.map(block => ({ ...block, firstDoc: firstDoc + block.firstDoc }))
    takeFrame(tail, events, { head, end, blocks: placed, docs: events.count })
  }

  /** The writer may have put another file in this one's place before it was opened: what stands there is no frame then. */
  #frameAt(at: number, end: number): Frame {
    const { file, count } = this.tail
    const gone = (cause?: unknown) => new SnapshotGone(`the frame at ${at} of ${file.path}`, { cause })
    let frame: Frame | undefined
    try {
      frame = readFrame(file, at, end, count)
    } catch (cause) {
      throw gone(cause)
    }
    if (frame === undefined) throw gone()
    return frame
  }

  *#walk(frame: Frame): Generator<void, void, undefined> {
    const { tail } = this
    this.#walker ??= new DocumentWalker(this.#mapping, this.context.slots, tail.index)
    const walker = this.#walker
    walker.events.clear()
    let pieceBytes = 0
    for (const block of frame.blocks) {
      const read = sourceReader(readContent(block, tail.file), block.docs)
      for (let k = 0; k < block.docs; k++) {
        const source = read(k)
        walker.addStored(source)
        pieceBytes += source.length
        if (pieceBytes < PIECE_BYTES) continue
        yield
        pieceBytes = 0
      }
    }
    tail.index.apply(walker.events, tail.count)
    takeFrame(tail, walker.events, frame)
  }
}
