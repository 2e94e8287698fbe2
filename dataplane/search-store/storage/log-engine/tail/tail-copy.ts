/** The query process's copy of the tail. */
import type { MutableMapping } from '../../../mapping/mapping.ts'
import { SnapshotGone } from '../../index-copy.ts'
import type { TailExtent } from '../../index-feed.ts'
import type { Frame } from '../format/frame.ts'
import type { SegmentFile } from '../format/segment-file.ts'
import { DocumentWalker } from '../ingest/document-walker.ts'
import { readContent, sourceReader } from '../sealed/stored-blocks.ts'
import type { SegmentContext } from '../segment-context.ts'
import { readFrame, takeFrame } from './replay-tail.ts'
import { Tail } from './tail.ts'

/** Bytes of documents between two looks at the clock: half a millisecond of work, as a rule. */
const PIECE_BYTES = 32 * 1024

/** The index over an unsealed segment that another process writes, made from its frames as far as queries ask. */
export class TailCopy {
  readonly tail: Tail
  readonly context: SegmentContext
  readonly #mapping: MutableMapping
  readonly #walker: DocumentWalker
  /** The rest of the frame that is being read. */
  #frame: Generator<void, void, undefined> | undefined

  /** `before`: the copy of the tail before, which is sealed now. Fields in which it met too many values stay without columns. */
  constructor(context: SegmentContext, mapping: MutableMapping, number: number, file: SegmentFile, before: TailCopy | undefined) {
    const isRelated = before !== undefined && before.context === context
    const high = isRelated ? before.#highFields() : new Set<number>()
    this.context = context
    this.#mapping = mapping
    this.tail = new Tail(context, number, file, high, isRelated ? before.tail.index.terms.size : 0)
    this.#walker = new DocumentWalker(mapping, context.slots, this.tail.index)
  }

  get memoryBytes(): number {
    return this.tail.memoryBytes
  }

  #highFields(): Set<number> {
    const high = new Set(this.tail.high)
    for (const [number, column] of this.tail.index.keywords.entries()) if (column?.isPartial) high.add(number)
    return high
  }

  /**
   * Reads up to `end` at least. All callers that wait do the work, each a piece in its own turn: a query that has had much time already, whose
   * turns are few, holds up no other. Every frame that is finished stays.
   */
  async catchUp({ end, count }: TailExtent, step: () => Promise<unknown>): Promise<void> {
    while (this.tail.end < end) {
      this.#readOn(end)
      await step()
    }
    if (this.tail.count < count) throw new SnapshotGone(`document ${count} of ${this.tail.file.path}`)
  }

  /** One piece of the frame that is being read, or of the next one. */
  #readOn(end: number): void {
    this.#frame ??= this.#readFrame(end)
    try {
      if (this.#frame.next().done === true) this.#frame = undefined
    } catch (error) {
      this.#frame = undefined
      throw error
    }
  }

  *#readFrame(end: number): Generator<void, void, undefined> {
    const { tail } = this
    const frame = this.#frameAt(tail.end, end)
    yield* this.#walk(frame)
    takeFrame(tail, this.#walker, frame, tail.file)
    tail.end = frame.end
    this.#mapping.commit()
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
    this.#walker.events.clear()
    let pieceBytes = 0
    for (const block of frame.blocks) {
      const read = sourceReader(readContent(block, this.tail.file), block.docs)
      for (let k = 0; k < block.docs; k++) {
        const source = read(k)
        this.#walker.addStored(source)
        pieceBytes += source.length
        if (pieceBytes < PIECE_BYTES) continue
        yield
        pieceBytes = 0
      }
    }
  }
}
