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

/** Documents between two looks at the clock. */
const STRIDE = 64

/** The index over an unsealed segment that another process writes, made from its frames as far as queries ask. */
export class TailCopy {
  readonly tail: Tail
  readonly context: SegmentContext
  readonly #mapping: MutableMapping
  readonly #walker: DocumentWalker
  #running: Promise<void> | undefined

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

  /** Reads up to `end` at least. One caller does the work, of which every frame it finishes stays; when it gives up another goes on. */
  async catchUp(extent: TailExtent, step: () => Promise<unknown>): Promise<void> {
    while (this.tail.end < extent.end) {
      if (this.#running !== undefined) {
        await this.#running.catch(() => undefined)
        await step()
        continue
      }
      this.#running = this.#read(extent.end, step)
      try {
        await this.#running
      } finally {
        this.#running = undefined
      }
    }
    if (this.tail.count < extent.count) throw new SnapshotGone(`document ${extent.count} of ${this.tail.file.path}`)
  }

  async #read(end: number, step: () => Promise<unknown>): Promise<void> {
    const { tail } = this
    while (tail.end < end) {
      const frame = this.#frameAt(tail.end, end)
      await this.#walk(frame, step)
      takeFrame(tail, this.#walker, frame, tail.file)
      tail.end = frame.end
      this.#mapping.commit()
    }
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

  async #walk(frame: Frame, step: () => Promise<unknown>): Promise<void> {
    this.#walker.events.clear()
    for (const block of frame.blocks) {
      const read = sourceReader(readContent(block, this.tail.file), block.docs)
      for (let k = 0; k < block.docs; k++) {
        if (k % STRIDE === 0) await step()
        this.#walker.addStored(read(k))
      }
    }
  }
}
